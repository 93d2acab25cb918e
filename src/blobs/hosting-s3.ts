// Hosted results in an S3-compatible store, which serves them at signed URLs.

import { S3Client, type S3ListObjectsResponse } from 'bun'
import { ConfigError } from '../config/problems.ts'
import type { BucketSettings } from '../config/types.ts'
import type { Payload } from '../vendors/media.ts'
import { type HostedFile, hourOf, isFileId, isHourOver, typeOfFile } from './hosted.ts'
import { type FileStore, notKept, piecesOf } from './hosting.ts'

interface BucketOptions {
  readonly settings: BucketSettings
  readonly nowMs: () => number
}

/** Bun reads a session token from the environment, which cannot be prevented, and puts it into every URL. */
const leak = {
  path: 'media.store.s3',
  message: 'start without AWS_SESSION_TOKEN, or with an empty S3_SESSION_TOKEN beside it',
}

/** The size of an upload's parts (at least 5 MiB, Amazon S3 "Multipart upload limits"), and how many go out at once. */
const partBytes = 5_242_880
const partsAtOnce = 2

export class BucketFiles implements FileStore {
  private readonly client: S3Client
  private readonly prefix: string
  private readonly nowMs: () => number

  /** Throws ConfigError. */
  constructor({ settings, nowMs }: BucketOptions) {
    this.client = openBucket(settings)
    this.prefix = settings.prefix
    this.nowMs = nowMs
    if (this.client.presign(this.prefix).includes('X-Amz-Security-Token'))
      throw new ConfigError([leak], null)
  }

  /** Rejects like `FileStore.put`; the URL is the store's own, so `origin` is ignored. */
  async put(file: HostedFile, payload: Payload): Promise<string> {
    const key = `${this.prefix}${hourOf(file)}/${file.id}`
    const type = typeOfFile(file)
    try {
      await this.write(key, type, payload)
    } catch (error) {
      throw unkept(error)
    }
    const seconds = Math.floor(file.expires - this.nowMs() / 1_000)
    const contentDisposition = `inline; filename="${file.id}"`
    return this.client.presign(key, { method: 'GET', expiresIn: seconds, type, contentDisposition })
  }

  async sweep(nowMs: number): Promise<void> {
    let startAfter: string | undefined
    for (;;) {
      const options = { prefix: this.prefix, ...(startAfter !== undefined && { startAfter }) }
      const page: S3ListObjectsResponse = await this.client.list(options)
      const keys = (page.contents ?? []).map(({ key }) => key)
      const old = keys.filter((key) => this.isOld(key, nowMs))
      for (const key of old) await this.client.delete(key)
      startAfter = keys.at(-1)
      // Keys are listed in order: everything behind the first file that has not expired has not expired either.
      const hasLiving = keys.some((key) => this.hourIn(key) !== null && !this.isOld(key, nowMs))
      if (page.isTruncated !== true || startAfter === undefined || hasLiving) return
    }
  }

  private async write(key: string, type: string, payload: Payload): Promise<void> {
    const writer = this.client
      .file(key)
      .writer({ type, partSize: partBytes, queueSize: partsAtOnce, retry: 3 })
    try {
      for (const piece of piecesOf(payload)) {
        writer.write(piece)
        await writer.flush()
      }
    } catch (error) {
      await writer.end(error instanceof Error ? error : new Error(String(error)))
      throw error
    }
    await writer.end()
  }

  private isOld(key: string, nowMs: number): boolean {
    const hour = this.hourIn(key)
    return hour !== null && isHourOver(hour, nowMs)
  }

  /** The hour in a key; null for a key that is not of a hosted file. */
  private hourIn(key: string): number | null {
    const [hour = '', id = '', ...rest] = key.slice(this.prefix.length).split('/')
    const isOurs = rest.length === 0 && /^\d+$/.test(hour) && isFileId(id)
    return key.startsWith(this.prefix) && isOurs ? Number(hour) : null
  }
}

export function openBucket({
  bucket,
  accessKeyId,
  secretAccessKey,
  ...at
}: BucketSettings): S3Client {
  // Every setting is passed, because Bun would take missing ones from the environment.
  const region = at.region ?? (at.endpoint === null ? 'us-east-1' : 'auto')
  const endpoint = at.endpoint ?? `https://s3.${region}.amazonaws.com`
  return new S3Client({ bucket, accessKeyId, secretAccessKey, region, endpoint })
}

/** The client throws errors of many kinds, none a bug of the gateway; their messages may contain addresses and keys. */
function unkept(error: unknown): Error {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  return notKept(`the store failed with ${code}`)
}
