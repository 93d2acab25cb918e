// Hosted results on this machine's disk, which the gateway serves at signed URLs.

import { Buffer } from 'node:buffer'
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { type Dirent, openAsBlob } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Payload } from '../vendors/media.ts'
import { type HostedFile, hourOf, isFileId, isHourOver, typeOfFile } from './hosted.ts'
import { type FileStore, notKept, piecesOf } from './hosting.ts'

interface DiskOptions {
  /** Created where it is missing. */
  readonly folder: string
  /** The deployment's key, from which the signing key is derived. */
  readonly key: Uint8Array
  readonly nowMs: () => number
}

/** The parts of a hosted file's URL, none of which can be trusted. */
export interface SignedAddress {
  readonly id: string
  readonly expires: string
  readonly signature: string
}

export interface Found {
  readonly id: string
  readonly type: string
  readonly blob: Blob
  /** Unix seconds. */
  readonly expires: number
}

/** The suffix of a file that is not complete. */
const unfinished = '.part'

/** Hosted files on disk; one instance per process, since it counts their size. */
export class DiskFiles {
  private readonly folder: string
  private readonly signingKey: Uint8Array
  private readonly nowMs: () => number
  /** Bytes when last counted, null before the first count; and bytes added since. */
  private countedBytes: number | null = null
  private addedBytes = 0

  constructor({ folder, key, nowMs }: DiskOptions) {
    this.folder = folder
    this.nowMs = nowMs
    // RFC 5869: derived, because the deployment's key may serve other purposes, and none must reveal another.
    this.signingKey = new Uint8Array(hkdfSync('sha256', key, '', 'tollgate hosted files', 32))
  }

  /** A store limited to this many bytes in total. */
  store(maxStoredBytes: number): FileStore {
    return {
      put: (file, payload, origin) => this.put(file, payload, origin, maxStoredBytes),
      sweep: (nowMs) => this.sweep(nowMs),
    }
  }

  /** `forged`: the gateway never issued that URL. Null: the file has been removed. */
  async find({
    id,
    expires,
    signature,
  }: SignedAddress): Promise<Found | 'forged' | 'expired' | null> {
    if (!isFileId(id) || !/^\d{1,12}$/.test(expires)) return 'forged'
    const file = { id, expires: Number(expires) }
    const [given, right] = [Buffer.from(signature), Buffer.from(this.signatureOf(file))]
    if (given.length !== right.length || !timingSafeEqual(given, right)) return 'forged'
    if (file.expires * 1_000 <= this.nowMs()) return 'expired'
    const path = this.pathOf(file)
    if ((await ifThere(() => stat(path))) === null) return null
    const type = typeOfFile(file)
    return { ...file, type, blob: await openAsBlob(path, { type }) }
  }

  async sweep(nowMs: number): Promise<void> {
    const hours = (await this.hours()).filter((hour) => isHourOver(hour, nowMs))
    for (const hour of hours)
      await rm(join(this.folder, String(hour)), { recursive: true, force: true })
    // Counted again, because other processes add files too.
    this.addedBytes = 0
    this.countedBytes = await this.count()
  }

  private async put(
    file: HostedFile,
    payload: Payload,
    origin: string,
    maxStoredBytes: number,
  ): Promise<string> {
    try {
      const storedBytes = await this.storedBytes()
      if (storedBytes + payload.size > maxStoredBytes)
        throw notKept('media.maxStoredBytes is reached')
      await this.write(file, payload)
    } catch (error) {
      throw unkept(error)
    }
    const { id, expires } = file
    return `${origin}/files/${id}?expires=${expires}&signature=${this.signatureOf(file)}`
  }

  private async write(file: HostedFile, payload: Payload): Promise<void> {
    this.addedBytes += payload.size
    try {
      await write(this.pathOf(file), payload)
    } catch (error) {
      this.addedBytes -= payload.size
      throw error
    }
  }

  private async storedBytes(): Promise<number> {
    this.countedBytes ??= await this.count()
    return this.countedBytes + this.addedBytes
  }

  private signatureOf({ id, expires }: HostedFile): string {
    return createHmac('sha256', this.signingKey).update(`${id}\n${expires}`).digest('base64url')
  }

  private pathOf(file: HostedFile): string {
    return join(this.folder, String(hourOf(file)), file.id)
  }

  private async hours(): Promise<number[]> {
    const names = await ifThere(() => readdir(this.folder))
    return (names ?? []).filter((name) => /^\d+$/.test(name)).map(Number)
  }

  private async count(): Promise<number> {
    let bytes = 0
    for (const hour of await this.hours()) {
      const folder = join(this.folder, String(hour))
      const entries: Dirent[] | null = await ifThere(() => readdir(folder, { withFileTypes: true }))
      for (const { name } of entries ?? []) {
        const found = await ifThere(() => stat(join(folder, name)))
        bytes += found?.size ?? 0
      }
    }
    return bytes
  }
}

async function write(path: string, payload: Payload): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true, mode: 0o700 })
  const part = path + unfinished
  const file = await open(part, 'wx', 0o600)
  try {
    try {
      for (const piece of piecesOf(payload)) await file.writeFile(piece)
    } finally {
      await file.close()
    }
    await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

/** Null where the file or folder does not exist, or no longer: another process may be sweeping. */
async function ifThere<T>(look: () => Promise<T>): Promise<T | null> {
  try {
    return await look()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

function unkept(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error)) return error
  return notKept(`the disk failed with ${String(error.code)}`)
}
