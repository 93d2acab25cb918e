// A list of IP addresses and ranges, as configured for trusted proxies and keys.

import { BlockList, isIP } from 'node:net'

export class AddressList {
  private readonly list = new BlockList()

  /** IP addresses, and ranges such as `10.0.0.0/8`. */
  constructor(ranges: readonly string[]) {
    for (const range of ranges) {
      const [address = '', bits] = range.split('/')
      if (bits === undefined) this.list.addAddress(address, familyOf(address))
      else this.list.addSubnet(address, Number(bits), familyOf(address))
    }
  }

  has(address: string): boolean {
    return this.list.check(address, familyOf(address))
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
