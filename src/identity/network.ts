// The network of an IP address: whoever has one of its addresses can usually use them all.

import { isIP } from 'node:net'

/** `192.0.2.0/24` or `2001:db8:0:1::/64`, for any notation of the address; `unknown` if it is no address. */
export function networkOf(address: string | null): string {
  const [plain = ''] = (address ?? '').split('%', 1)
  const family = isIP(plain)
  if (family === 4) return ofVersion4(plain.split('.').map(Number))
  if (family === 0) return 'unknown'
  const groups = groupsOf(plain)
  // An IPv4 address mapped into IPv6 (RFC 4291, section 2.5.5.2).
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    return ofVersion4(groups.slice(6).flatMap((group) => [group >> 8, group & 0xff]))
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

function ofVersion4(bytes: readonly number[]): string {
  return `${bytes.slice(0, 3).join('.')}.0/24`
}

/** All eight groups, from any notation. */
function groupsOf(address: string): readonly number[] {
  // The URL parser writes an address in only one way (URL Standard, IPv6 serializer), without dotted parts.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = '', tail] = canonical.split('::')
  const numbers = (part: string) =>
    part === '' ? [] : part.split(':').map((hex) => parseInt(hex, 16))
  const front = numbers(head)
  const back = tail === undefined ? [] : numbers(tail)
  return [...front, ...new Array<number>(8 - front.length - back.length).fill(0), ...back]
}
