// Edits a document's bytes without copying the unchanged parts.

import type { Span } from '../request.ts'

/** Replaces `bytes[start, end)` by `text`; an empty span inserts. */
export interface Edit extends Span {
  readonly text: string
}

const encoder = new TextEncoder()

/**
 * The document after `edits` as segments in order; unchanged parts are views into `bytes`.
 * Edits may come in any order and must not overlap.
 */
export function splice(bytes: Uint8Array, edits: readonly Edit[]): Uint8Array[] {
  const segments: Uint8Array[] = []
  let at = 0
  const ordered = edits.length > 1 ? [...edits].sort((a, b) => a.start - b.start) : edits
  for (const edit of ordered) {
    if (edit.start < at || edit.end < edit.start || edit.end > bytes.length) {
      throw new RangeError(`edit [${edit.start}, ${edit.end}) overlaps another or the end`)
    }
    if (edit.start > at) segments.push(bytes.subarray(at, edit.start))
    if (edit.text !== '') segments.push(encoder.encode(edit.text))
    at = edit.end
  }
  if (at < bytes.length) segments.push(bytes.subarray(at))
  return segments
}

/** The segments as one array; a lone segment is returned as it is. */
export function join(segments: readonly Uint8Array[]): Uint8Array {
  const only = segments[0]
  if (only !== undefined && segments.length === 1) return only
  let length = 0
  for (const segment of segments) length += segment.length
  const joined = new Uint8Array(length)
  let at = 0
  for (const segment of segments) {
    joined.set(segment, at)
    at += segment.length
  }
  return joined
}
