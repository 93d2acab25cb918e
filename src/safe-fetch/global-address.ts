// Recognizes IP addresses of the public internet; all others are refused (IANA special-purpose registries).

/** IPv4 networks that are not global: `address/bits`. */
const special4: readonly (readonly [address: string, bits: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  // Multicast, and everything above.
  ['224.0.0.0', 3],
]

/** Networks that are not global within 2000::/3; outside of it no IPv6 address is. */
const special6: readonly (readonly [groups: readonly number[], bits: number])[] = [
  // Teredo, ORCHID and the other protocol assignments.
  [[0x2001, 0x0000], 23],
  [[0x2001, 0x0db8], 32],
  // 6to4 contains an IPv4 address, which would not be checked.
  [[0x2002], 16],
  [[0x3fff, 0x0000], 20],
]

const nets4 = special4.map(([address, bits]) => ({ net: parse4(address) ?? 0, bits }))

/** `address`: canonical text, as a resolver or a URL's host gives it, without brackets. Anything else is not global. */
export function isGlobalAddress(address: string): boolean {
  const four = parse4(address)
  if (four !== null) return !nets4.some(({ net, bits }) => sameNet(four, net, bits))
  const six = parse6(address)
  if (six === null || ((six[0] ?? 0) & 0xe000) !== 0x2000) return false
  return !special6.some(([groups, bits]) => startsWith(six, groups, bits))
}

function sameNet(address: number, net: number, bits: number): boolean {
  const shift = 32 - bits
  return address >>> shift === net >>> shift
}

function parse4(text: string): number | null {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)
  if (match === null) return null
  const bytes = match.slice(1).map(Number)
  if (bytes.some((byte) => byte > 255)) return null
  return bytes.reduce((sum, byte) => ((sum << 8) | byte) >>> 0, 0)
}

/** The eight groups; null for text that is not IPv6, has a zone, or ends in IPv4 notation. */
function parse6(text: string): readonly number[] | null {
  if (!/^[0-9a-f:]+$/i.test(text)) return null
  const halves = text.split('::')
  if (halves.length > 2) return null
  const [head, tail] = halves.map((half) => (half === '' ? [] : half.split(':')))
  if (head === undefined) return null
  const missing = 8 - head.length - (tail?.length ?? 0)
  if (tail === undefined ? missing !== 0 : missing < 1) return null
  const groups = [
    ...head,
    ...Array<string>(tail === undefined ? 0 : missing).fill('0'),
    ...(tail ?? []),
  ]
  if (groups.some((group) => !/^[0-9a-f]{1,4}$/i.test(group))) return null
  return groups.map((group) => Number.parseInt(group, 16))
}

function startsWith(address: readonly number[], groups: readonly number[], bits: number): boolean {
  for (let at = 0; at * 16 < bits; at++) {
    const shift = Math.max(0, 16 - (bits - at * 16))
    if ((address[at] ?? 0) >>> shift !== (groups[at] ?? 0) >>> shift) return false
  }
  return true
}
