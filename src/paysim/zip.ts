// Writes a zip archive of a few small files without compression (APPNOTE.TXT 4.3), with Alipay's GBK text in it.
import { crc32 } from 'node:zlib'

interface ZippedFile {
  /** Already in the archive's encoding. */
  readonly name: Buffer
  readonly content: Buffer
}

/** 1980-01-01 00:00, the earliest time that zip can express. */
const earliest = 0x0021_0000

export function zip(files: readonly ZippedFile[]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, content } of files) {
    const common = commonFields(name, content)
    const local = Buffer.concat([integers([0x0403_4b50, 4]), common, name, content])
    const position = integers([0, 2], [0, 2], [0, 2], [0, 4], [offset, 4])
    directory.push(Buffer.concat([integers([0x0201_4b50, 4], [20, 2]), common, position, name]))
    parts.push(local)
    offset += local.length
  }
  const central = Buffer.concat(directory)
  const count = files.length
  const end = integers(
    [0x0605_4b50, 4],
    [0, 4],
    [count, 2],
    [count, 2],
    [central.length, 4],
    [offset, 4],
    [0, 2],
  )
  return Buffer.concat([...parts, central, end])
}

/** Fields that a file's header and the directory share: version, flags, method, time, checksum, sizes, lengths. */
function commonFields(name: Buffer, content: Buffer): Buffer {
  return integers(
    [20, 2],
    [0, 2],
    [0, 2],
    [earliest, 4],
    [crc32(content), 4],
    [content.length, 4],
    [content.length, 4],
    [name.length, 2],
    [0, 2],
  )
}

/** Writes integers in little-endian order, each with its number of bytes. */
function integers(...values: readonly (readonly [value: number, bytes: 2 | 4])[]): Buffer {
  return Buffer.concat(
    values.map(([value, bytes]) => {
      const buffer = Buffer.alloc(bytes)
      buffer.writeUIntLE(value, 0, bytes)
      return buffer
    }),
  )
}

let codes: Map<string, Buffer> | undefined

/** Encodes text as GBK; a character without a code becomes a question mark. */
export function gbk(text: string): Buffer {
  codes ??= gbkCodes()
  const known = codes
  return Buffer.concat([...text].map((one) => known.get(one) ?? Buffer.from('?')))
}

/** Runtimes decode GBK but encode only UTF-8, so the table is built by decoding every code. */
function gbkCodes(): Map<string, Buffer> {
  const decoder = new TextDecoder('gbk')
  const table = new Map<string, Buffer>()
  for (let first = 0x81; first <= 0xfe; first += 1) {
    for (let second = 0x40; second <= 0xfe; second += 1) {
      const bytes = Buffer.from([first, second])
      const [character = '', more] = decoder.decode(bytes)
      if (more === undefined && character !== '\uFFFD') table.set(character, bytes)
    }
  }
  for (let code = 0; code < 0x80; code += 1) {
    table.set(String.fromCharCode(code), Buffer.from([code]))
  }
  return table
}
