// What formats share that vendors speak and whose own clients are not served here.

import { errorTable, GatewayError } from '../errors.ts'
import type { HubCodec, ListCodec } from './codec.ts'
import type { Dialect } from './dialect.ts'
import type { DialectId, Operation } from './formats.ts'
import { readFault } from './openai/fault.ts'

/** What such a format must have of its own. */
export interface VendorSide extends Pick<Dialect, 'frames'> {
  readonly id: DialectId
  /** Below the base address, as the vendor's documentation writes it. */
  readonly path: string
  readonly fault?: Dialect['fault']
  /** Of a chat format. */
  readonly hub?: Pick<HubCodec, 'encodeRequest' | 'needsBytes' | 'reader' | 'readWhole'>
  /** Of a form of embeddings or reranking. */
  readonly list?: ListVendorSide
  readonly operation?: Operation
}

/** What a vendor's own form of embeddings or reranking must have. */
export type ListVendorSide = Pick<ListCodec, 'encodeRequest' | 'readReply'>

function refuse(error: GatewayError): string {
  const { type } = errorTable[error.code]
  return JSON.stringify({ message: error.message, type, code: error.code })
}

/** A format of which all that faces clients refuses: no endpoint leads to it. */
export function vendorSide(side: VendorSide): Dialect {
  const { id, path, fault = readFault, frames, hub, list, operation = 'chat' } = side
  const unserved = (): never => {
    throw new GatewayError('unsupported_endpoint', `Clients of ${id} are not served.`)
  }
  return {
    id,
    operation,
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
    hub:
      hub === undefined
        ? null
        : { ...hub, decodeRequest: unserved, writer: unserved, writeWhole: unserved },
    ...(list !== undefined && {
      list: { ...list, decodeRequest: unserved, writeReply: unserved },
    }),
  }
}
