// Counts the pages of a PDF from the readable parts of its beginning and end.

import { type Bytes, latin } from './sniff.ts'

const headBytes = 4_096
/** Most writers put the page tree last. */
const tailBytes = 65_536
const sliceBytes = 8_192

export function isPdf(file: Bytes): boolean {
  // A few bytes may precede the signature (ISO 32000-1, implementation note 13).
  return textOf(file, 0, 1_024).includes('%PDF-')
}

/**
 * The largest number that the page tree (`/Count`), the linearisation (`/N`) or the count of page objects gives; null
 * where all of these are compressed.
 */
export function pagesOf(file: Bytes): number | null {
  const tail = textOf(file, Math.max(headBytes, file.size - tailBytes), file.size)
  let most = 0
  for (const text of [textOf(file, 0, headBytes), tail]) {
    for (const [, count] of text.matchAll(/\/Count\s{0,4}(\d{1,6})\b/g))
      most = Math.max(most, Number(count))
    const linear = /\/Linearized\b[^>]{0,300}?\/N\s{0,4}(\d{1,6})\b/.exec(text)
    most = Math.max(most, Number(linear?.[1] ?? 0))
    most = Math.max(most, text.match(/\/Type\s{0,4}\/Page\b/g)?.length ?? 0)
  }
  return most === 0 ? null : most
}

function textOf(file: Bytes, start: number, end: number): string {
  const bytes = file.read(Math.min(start, file.size), Math.min(end, file.size))
  let text = ''
  // In slices, because each byte becomes an argument of a call.
  for (let at = 0; at < bytes.length; at += sliceBytes) text += latin(bytes, at, at + sliceBytes)
  return text
}
