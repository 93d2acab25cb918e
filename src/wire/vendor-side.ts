// What formats share that vendors speak and whose own clients are not served here.

import { errorTable, GatewayError } from '../errors.ts'
import type { Dialect, DialectId, HubCodec } from './dialect.ts'
import { readFault } from './openai/fault.ts'

/** What such a format must have of its own. */
export interface VendorSide extends Pick<Dialect, 'frames'> {
  readonly id: DialectId
  /** Below the base address, as the vendor's documentation writes it. */
  readonly path: string
  readonly fault?: Dialect['fault']
  readonly hub: Pick<HubCodec, 'encodeRequest' | 'needsBytes' | 'reader' | 'readWhole'>
}

function refuse(error: GatewayError): string {
  const { type } = errorTable[error.code]
  return JSON.stringify({ message: error.message, type, code: error.code })
}

/** A chat format of which all that faces clients refuses: no endpoint leads to it. */
export function vendorSide({ id, path, fault = readFault, frames, hub }: VendorSide): Dialect {
  const unserved = (): never => {
    throw new GatewayError('unsupported_endpoint', `Clients of ${id} are not served.`)
  }
  return {
    id,
    operation: 'chat',
    path,
    idPrefix: '',
    terminator: '',
    heartbeat: '',
    peek: unserved,
    watcher: unserved,
    whole: unserved,
    tail: unserved,
    fault,
    withCost: (bytes) => bytes,
    refuse,
    errorFrames: refuse,
    ...(frames !== undefined && { frames }),
    hub: { ...hub, decodeRequest: unserved, writer: unserved, writeWhole: unserved },
  }
}
