// Files of given sizes for prompts: only their heads are real, since nothing decodes the rest.

import { deflateRawSync } from 'node:zlib'

const noise = (bytes: number): Buffer => {
  const made = Buffer.alloc(bytes)
  for (let at = 0; at < bytes; at++) made[at] = (at * 2_654_435_761) >>> 24
  return made
}

/** A PNG that declares this size and has this many bytes. */
export function pngOf(width: number, height: number, bytes: number): Buffer {
  const head = Buffer.alloc(33)
  Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').copy(head)
  head.writeUInt32BE(13, 8)
  head.write('IHDR', 12, 'latin1')
  head.writeUInt32BE(width, 16)
  head.writeUInt32BE(height, 20)
  head.set([8, 6, 0, 0, 0], 24)
  return Buffer.concat([head, noise(Math.max(0, bytes - head.length))])
}

/** A PDF with this many pages and bytes; `packed` compresses its page tree, as many writers do. */
export function pdfOf(pages: number, bytes: number, packed = false): Buffer {
  const tree = `<< /Type /Pages /Count ${pages} /Kids [] >>`
  const end = packed
    ? Buffer.concat([Buffer.from('<< /Type /ObjStm >> stream\n'), deflateRawSync(tree)])
    : Buffer.from(tree)
  return Buffer.concat([Buffer.from('%PDF-1.7\n'), noise(bytes), end, Buffer.from('\n%%EOF\n')])
}
