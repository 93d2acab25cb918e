// Writes a ZIP as a stream: holds no file in memory and needs no sizes in advance (APPNOTE 6.3.10, with ZIP64).

import { Buffer } from 'node:buffer'
import { Readable } from 'node:stream'
import { crc32, createDeflateRaw } from 'node:zlib'

export interface ZipFile {
  /** A path with `/` between folders; ASCII. */
  readonly name: string
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

interface Written {
  readonly name: Buffer
  readonly crc: number
  readonly size: number
  readonly compressedSize: number
  readonly offset: number
}

const version = 45
/** Sizes follow the data; names are UTF-8. */
const flags = 0x0808
const deflated = 8
/** 1 January 1980: the format has no earlier year, and no time zone. */
const noDate = 0x0021
const elsewhere = 0xffffffff

export async function* zipped(files: AsyncIterable<ZipFile>): AsyncGenerator<Uint8Array> {
  const written: Written[] = []
  let offset = 0
  for await (const file of files) {
    const name = Buffer.from(file.name, 'utf8')
    const sums = { crc: 0, size: 0 }
    const start = localHeader(name)
    yield start
    let compressedSize = 0
    for await (const chunk of Readable.from(summed(file.chunks, sums)).pipe(createDeflateRaw())) {
      compressedSize += chunk.length
      yield chunk
    }
    const end = descriptor({ ...sums, compressedSize })
    yield end
    written.push({ name, ...sums, compressedSize, offset })
    offset += start.length + compressedSize + end.length
  }
  const directory = Buffer.concat(written.map(directoryEntry))
  yield directory
  yield directoryEnd(written.length, directory.length, offset)
}

async function* summed(chunks: ZipFile['chunks'], sums: { crc: number; size: number }) {
  for await (const chunk of chunks) {
    sums.crc = crc32(chunk, sums.crc)
    sums.size += chunk.length
    // An empty chunk would be taken for the end.
    if (chunk.length > 0) yield chunk
  }
}

/** Little-endian fields of 2, 4 or 8 bytes. */
function fields(...list: readonly (readonly [size: 2 | 4 | 8, value: number])[]): Buffer {
  const bytes = Buffer.alloc(list.reduce((sum, [size]) => sum + size, 0))
  let at = 0
  for (const [size, value] of list) {
    if (size === 8) bytes.writeBigUInt64LE(BigInt(value), at)
    else bytes.writeUIntLE(value, at, size)
    at += size
  }
  return bytes
}

function localHeader(name: Buffer): Buffer {
  const extra = fields([2, 1], [2, 16], [8, 0], [8, 0])
  const head = fields(
    [4, 0x04034b50],
    [2, version],
    [2, flags],
    [2, deflated],
    [2, 0],
    [2, noDate],
    [4, 0],
    [4, elsewhere],
    [4, elsewhere],
    [2, name.length],
    [2, extra.length],
  )
  return Buffer.concat([head, name, extra])
}

function descriptor({ crc, size, compressedSize }: Omit<Written, 'name' | 'offset'>): Buffer {
  return fields([4, 0x08074b50], [4, crc], [8, compressedSize], [8, size])
}

function directoryEntry({ name, crc, size, compressedSize, offset }: Written): Buffer {
  const extra = fields([2, 1], [2, 24], [8, size], [8, compressedSize], [8, offset])
  const head = fields(
    [4, 0x02014b50],
    [2, version],
    [2, version],
    [2, flags],
    [2, deflated],
    [2, 0],
    [2, noDate],
    [4, crc],
    [4, elsewhere],
    [4, elsewhere],
    [2, name.length],
    [2, extra.length],
    [2, 0],
    [2, 0],
    [2, 0],
    [4, 0],
    [4, elsewhere],
  )
  return Buffer.concat([head, name, extra])
}

function directoryEnd(count: number, size: number, offset: number): Buffer {
  const end64 = fields(
    [4, 0x06064b50],
    [8, 44],
    [2, version],
    [2, version],
    [4, 0],
    [4, 0],
    [8, count],
    [8, count],
    [8, size],
    [8, offset],
  )
  const locator = fields([4, 0x07064b50], [4, 0], [8, offset + size], [4, 1])
  const many = 0xffff
  const end = fields(
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, many],
    [2, many],
    [4, elsewhere],
    [4, elsewhere],
    [2, 0],
  )
  return Buffer.concat([end64, locator, end])
}
