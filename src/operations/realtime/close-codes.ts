// The codes with which a session's sockets are closed (RFC 6455, section 7.4).

/** Codes a close frame may not carry (section 7.4.1). */
const unsendable: ReadonlySet<number> = new Set([1004, 1005, 1006, 1015])

export const closeCode = {
  normal: 1000,
  leaving: 1001,
  refused: 1008,
  mistake: 1011,
  restart: 1012,
  later: 1013,
} as const

/** A close code that may be sent for `code`: itself, `otherwise` for one that is never sent, else 1000. */
export function knownOr(code: number, otherwise: number): number {
  if (unsendable.has(code)) return otherwise
  const known = (code >= 1000 && code <= 1014) || (code >= 3000 && code <= 4999)
  return known ? code : closeCode.normal
}
