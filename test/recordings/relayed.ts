// Sends a vendor's bytes along the relay's translate path and collects what the client would get.

import type { Fault } from '../../src/errors.ts'
import type { Channel } from '../../src/relay/channel.ts'
import type { RelayRequest } from '../../src/relay/request.ts'
import { type Translation, translatedPath } from '../../src/relay/translate.ts'
import type { Vendor } from '../../src/vendors/vendor.ts'
import type { Dialects } from '../../src/wire/dialect.ts'
import { dialects } from '../../src/wire/dialects.ts'
import type { ClientDialectId, VendorDialectId } from '../../src/wire/formats.ts'
import type { Usage } from '../../src/wire/ir.ts'

export interface Relay {
  readonly vendor: Vendor
  readonly from: VendorDialectId
  readonly to: ClientDialectId
  /** The vendor answers with a stream. */
  readonly streamed: boolean
  /** The client asked for a stream, with usage. */
  readonly stream: boolean
}

export interface Relayed {
  text: string
  fault: Fault | null
  usage: Usage | null
  /** The client was told that the reply is complete. */
  clean: boolean
  semantic: boolean
}

const formats: Dialects = dialects

/** The parts of the relay and of the request that the path reads. */
function translation({ vendor, from, to, streamed, stream }: Relay): Translation {
  const request = {
    dialect: formats[to],
    peek: { stream, wantsUsage: true } as RelayRequest['peek'],
    requestId: 'req-1234',
    at: 1_700_000_000_000,
    authorization: { options: { showCost: false } },
  } as RelayRequest
  const candidate = {
    channelId: 'c',
    model: 'upstream',
    dialect: from,
    identity: false,
    priority: 0,
    weight: 1,
  }
  const channel = { id: 'c', tag: 't', vendor } as Channel
  const rooms = { dialects: formats } as Translation['rooms']
  return { rooms, request, candidate, channel, decoded: null, fitted: null, streamed }
}

/** The pieces are the vendor's reply as its bytes arrive; its connection then ends normally. */
export function relay(asked: Relay, pieces: readonly Uint8Array[]): Relayed {
  const decoder = new TextDecoder()
  const seen: Relayed = { text: '', fault: null, usage: null, clean: false, semantic: false }
  const path = translatedPath(translation(asked), {
    emit: (bytes) => {
      seen.text += decoder.decode(bytes)
    },
    semantic: () => {
      seen.semantic = true
    },
    completed: () => {
      seen.clean = true
    },
    answered: (bytes) => {
      seen.text = decoder.decode(bytes)
      seen.clean = true
    },
    failed: (fault) => {
      seen.fault = fault
    },
  })
  for (const piece of pieces) path.bytes(piece)
  path.end()
  seen.usage = path.summary.usage
  return seen
}
