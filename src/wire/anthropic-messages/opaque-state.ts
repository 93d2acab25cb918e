// Opaque state of parts that are no thoughts: carried by a client of this format in a thinking block of its own.

/** The block's signature is of the part behind it, or of the one before. */
const marks = { next: 'next:', previous: 'prev:' } as const
type Side = keyof typeof marks

export function carried(sealed: string, side: Side): string {
  return marks[side] + sealed
}

/** The opaque state and which part's it is; null where the signature is the thought's own. */
export function carriedOpaque(
  signature: string,
): { readonly side: Side; readonly sealed: string } | null {
  for (const side of ['next', 'previous'] as const) {
    const mark = marks[side]
    if (signature.startsWith(mark)) return { side, sealed: signature.slice(mark.length) }
  }
  return null
}
