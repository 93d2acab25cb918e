// A provider's bill of one day: payments and refunds, parsed from the files that providers supply.

import { Buffer } from 'node:buffer'
import { inflateRawSync } from 'node:zlib'
import { parseMinor } from './amount.ts'

/** One payment or refund in the bill. */
export interface BillRow {
  /** The provider's id of the payment. */
  readonly transactionId: string
  /** The order's id, given by the merchant. */
  readonly orderId: string
  /** The refund's id, given by the merchant; null for a payment. */
  readonly refundId: string | null
  readonly amountMinor: number
}

/** The file differs from the provider's documentation; the message says where. */
export class BillUnreadable extends Error {
  override readonly name = 'BillUnreadable'
}

export type Cells = (column: string) => string

/**
 * The rows after the line that begins with `first`, up to one that does not begin with a digit or backtick. A cell of
 * the column `text` may contain commas, which shift later cells: columns after `text` are counted from the end.
 */
export function tableOf(csv: string, first: string, text: string): readonly Cells[] {
  const lines = csv.replace(/^\uFEFF/, '').split(/\r?\n/)
  const start = lines.findIndex((line) => line.startsWith(first))
  const columns = lines[start]?.split(',').map((cell) => cell.trim())
  if (columns === undefined) throw new BillUnreadable(`the bill has no column ${first}`)
  const textPlace = columns.indexOf(text)
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => !/^[`\d]/.test(line))
  return rest.slice(0, end < 0 ? rest.length : end).map((line) => {
    const cells = line.split(',').map((cell) => cell.replaceAll(/[`\t]/g, '').trim())
    return (column) => {
      const place = columns.indexOf(column)
      if (place < 0) throw new BillUnreadable(`the bill has no column ${column}`)
      return cells[place > textPlace ? cells.length - columns.length + place : place] ?? ''
    }
  })
}

/** Parses an amount such as `12.50`; a refund's has a sign before it. */
export function billAmount(text: string): number {
  const minor = parseMinor(text.replace(/^[-+]/, ''))
  if (minor === null) throw new BillUnreadable(`the bill has an amount of ${JSON.stringify(text)}`)
  return minor
}

const endMark = 0x0605_4b50
const entryMark = 0x0201_4b50
const endBytes = 22
const largestFile = 256 * 1_048_576

/** The files of a zip archive (APPNOTE.TXT 4.3), without their names. Throws BillUnreadable. */
export function unzip(bytes: Uint8Array): readonly Buffer[] {
  const archive = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let end = archive.length - endBytes
  while (end >= 0 && archive.readUInt32LE(end) !== endMark) end -= 1
  if (end < 0) throw new BillUnreadable('the bill is no zip archive')
  try {
    const files: Buffer[] = []
    let at = archive.readUInt32LE(end + 16)
    for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
      if (archive.readUInt32LE(at) !== entryMark) throw new Error('its directory is broken')
      files.push(fileAt(archive, at))
      const lengths = [28, 30, 32].map((field) => archive.readUInt16LE(at + field))
      at += lengths.reduce((sum, length) => sum + length, 46)
    }
    return files
  } catch (error) {
    throw new BillUnreadable(`the bill's archive cannot be read: ${(error as Error).message}`)
  }
}

function fileAt(archive: Buffer, entry: number): Buffer {
  const method = archive.readUInt16LE(entry + 10)
  const size = archive.readUInt32LE(entry + 20)
  const local = archive.readUInt32LE(entry + 42)
  const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
  const content = archive.subarray(start, start + size)
  if (method === 0) return content
  if (method === 8) return inflateRawSync(content, { maxOutputLength: largestFile })
  throw new Error(`method ${method} is not known`)
}
