// Carries opaque state of parts other than thinking through clients of this format, in a thinking block of its own.

/** Prefixes of a signature that belongs to the part after the block, or to the one before it. */
const marks = { next: 'next:', previous: 'prev:' } as const
type Side = keyof typeof marks

export function carried(sealed: string, side: Side): string {
  return marks[side] + sealed
}

/** The opaque state and the side its part is on; null where the signature is the thinking block's own. */
export function carriedOpaque(
  signature: string,
): { readonly side: Side; readonly sealed: string } | null {
  for (const side of ['next', 'previous'] as const) {
    const mark = marks[side]
    if (signature.startsWith(mark)) return { side, sealed: signature.slice(mark.length) }
  }
  return null
}
