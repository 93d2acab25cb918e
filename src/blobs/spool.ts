// Stores the payloads of one request while it runs: small ones in memory, the rest in unnamed files.

import { Buffer } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { join as joinPath } from 'node:path'
import { type Keeper, MediaFault, type Payload, type Spool } from '../vendors/media.ts'
import { join } from '../wire/json/splice.ts'

/** A longer payload is stored on disk, and written in pieces of at least this size. */
const heldBytes = 65_536
/** The most bytes that all payloads of one request hold in memory. */
const spoolHeldBytes = 262_144

/** The spools of one process, and their total size on disk. */
export interface Spools {
  /** `maxBytes`: the most bytes on disk for all spools of this process. */
  open(maxBytes: number): Spool
  /** Called with the bytes of a reply that does not go through a spool. */
  passed(bytes: number): void
  readonly usedBytes: number
}

/** Creates files in `folder`, and the folder where it is missing. `passed` is called with bytes written and read. */
export function createSpools(
  folder: string,
  passed: (bytes: number) => void = () => undefined,
): Spools {
  const disk = new Disk(folder, passed)
  return {
    open: (maxBytes) => new RequestSpool(disk, maxBytes),
    passed,
    get usedBytes() {
      return disk.usedBytes
    },
  }
}

class Disk {
  usedBytes = 0
  readonly passed: (bytes: number) => void
  private readonly folder: string

  constructor(folder: string, passed: (bytes: number) => void) {
    this.folder = folder
    this.passed = passed
  }

  take(bytes: number, maxBytes: number): void {
    if (this.usedBytes + bytes > maxBytes) throw noRoom('uploads.maxSpoolBytes is reached')
    this.usedBytes += bytes
  }

  /** Opens a file and unlinks it: however this process ends, nothing is left behind. */
  open(): number {
    const path = joinPath(this.folder, randomBytes(16).toString('hex'))
    mkdirSync(this.folder, { recursive: true, mode: 0o700 })
    const file = openSync(path, 'wx+', 0o600)
    unlinkSync(path)
    return file
  }
}

function noRoom(why: string): MediaFault {
  return new MediaFault({ kind: 'no_room', message: `no room for files: ${why}` })
}

/** System errors for a full disk, or too many files. */
const fullCodes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'EFBIG'])

function unlessFull<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof Error && 'code' in error && fullCodes.has(error.code))
      throw noRoom(String(error.code))
    throw error
  }
}

class SpoolFile {
  size = 0
  private readonly disk: Disk
  private readonly maxBytes: number
  private file: number | null

  constructor(disk: Disk, maxBytes: number) {
    this.disk = disk
    this.maxBytes = maxBytes
    this.file = unlessFull(() => disk.open())
  }

  append(bytes: Uint8Array): void {
    const file = this.opened()
    this.disk.take(bytes.length, this.maxBytes)
    const from = this.size
    this.size += bytes.length
    let done = 0
    unlessFull(() => {
      while (done < bytes.length)
        done += writeSync(file, bytes, done, bytes.length - done, from + done)
    })
    this.disk.passed(bytes.length)
  }

  read(start: number, end: number, into?: Uint8Array): Uint8Array {
    const file = this.opened()
    const length = Math.max(0, end - start)
    const isEnough = into !== undefined && into.length >= length
    const bytes = isEnough ? into.subarray(0, length) : Buffer.allocUnsafe(length)
    let done = 0
    while (done < bytes.length) {
      const read = readSync(file, bytes, done, bytes.length - done, start + done)
      if (read === 0) throw new Error('a payload became shorter while it was read')
      done += read
    }
    this.disk.passed(length)
    return bytes
  }

  close(): void {
    if (this.file === null) return
    closeSync(this.file)
    this.file = null
    this.disk.usedBytes -= this.size
  }

  /** A closed file's descriptor may be reused by the system, so it must not be used again. */
  private opened(): number {
    if (this.file === null) throw closedSpool()
    return this.file
  }
}

function closedSpool(): Error {
  return new Error('the spool is closed')
}

class InMemory implements Payload {
  readonly type: string
  private readonly bytes: Uint8Array

  constructor(bytes: Uint8Array, type: string) {
    this.bytes = bytes
    this.type = type
  }

  get size(): number {
    return this.bytes.length
  }

  read(start: number, end: number): Uint8Array {
    return this.bytes.subarray(start, end)
  }
}

class OnDisk implements Payload {
  readonly type: string
  readonly size: number
  private readonly file: SpoolFile

  constructor(file: SpoolFile, type: string) {
    this.file = file
    this.size = file.size
    this.type = type
  }

  read(start: number, end: number, into?: Uint8Array): Uint8Array {
    return this.file.read(start, end, into)
  }
}

class RequestSpool implements Spool {
  /** Bytes in memory of all payloads. */
  heldBytes = 0
  private readonly disk: Disk
  private readonly maxBytes: number
  private files: SpoolFile[] = []
  private closed = false

  constructor(disk: Disk, maxBytes: number) {
    this.disk = disk
    this.maxBytes = maxBytes
  }

  keeper(type: string): Keeper {
    return new SpoolKeeper(this, type)
  }

  inMemory(bytes: Uint8Array, type: string): Payload {
    return new InMemory(bytes, type)
  }

  newFile(): SpoolFile {
    if (this.closed) throw closedSpool()
    const file = new SpoolFile(this.disk, this.maxBytes)
    this.files.push(file)
    return file
  }

  close(): void {
    this.closed = true
    for (const file of this.files) file.close()
    this.files = []
  }
}

class SpoolKeeper implements Keeper {
  private readonly spool: RequestSpool
  private readonly type: string
  private waiting: Uint8Array[] = []
  private waitingBytes = 0
  private file: SpoolFile | null = null

  constructor(spool: RequestSpool, type: string) {
    this.spool = spool
    this.type = type
  }

  push(chunk: Uint8Array): void {
    this.waiting.push(chunk)
    this.waitingBytes += chunk.length
    this.spool.heldBytes += chunk.length
    if (this.waitingBytes > heldBytes || this.spool.heldBytes > spoolHeldBytes) this.write()
  }

  end(): Payload {
    if (this.file !== null) {
      this.write()
      return new OnDisk(this.file, this.type)
    }
    // A copy: the chunks may be small parts of large buffers.
    const bytes = Uint8Array.from(join(this.waiting))
    return new InMemory(bytes, this.type)
  }

  private write(): void {
    this.file ??= this.spool.newFile()
    const { waiting, waitingBytes } = this
    this.waiting = []
    this.waitingBytes = 0
    this.spool.heldBytes -= waitingBytes
    if (waitingBytes > 0) this.file.append(join(waiting))
  }
}
