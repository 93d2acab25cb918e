// The parts of a format by its name, for tests of many formats: each throws if the format lacks the part.

import type { ClientHub, ClientList, VendorHub, VendorList } from '../../src/wire/codec.ts'
import type { ClientSide, Dialect, IdentitySide, VendorSide } from '../../src/wire/dialect.ts'
import { dialects } from '../../src/wire/dialects.ts'
import type { DialectId } from '../../src/wire/formats.ts'

function there<Part>(part: Part | undefined, id: DialectId): Part {
  if (part === undefined) throw new Error(`${id} lacks what is asked of it`)
  return part
}

export function dialectOf(id: DialectId): Dialect {
  return dialects[id]
}

export function clientOf(id: DialectId): ClientSide {
  return there(dialectOf(id).client, id)
}

export function vendorOf(id: DialectId): VendorSide {
  return there(dialectOf(id).vendor, id)
}

export function identityOf(id: DialectId): IdentitySide {
  return there(dialectOf(id).identity, id)
}

export function clientHub(id: DialectId): ClientHub {
  return there(clientOf(id).hub, id)
}

export function vendorHub(id: DialectId): VendorHub {
  return there(vendorOf(id).hub, id)
}

export function clientList(id: DialectId): ClientList {
  return there(clientOf(id).list, id)
}

export function vendorList(id: DialectId): VendorList {
  return there(vendorOf(id).list, id)
}
