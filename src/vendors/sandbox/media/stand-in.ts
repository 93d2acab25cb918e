// For tests: an adapter's tools that reach no vendor.

import type { Fault } from '../../../errors.ts'
import type { VendorDialectId } from '../../../wire/formats.ts'
import type { JsonObject } from '../../../wire/ir.ts'
import {
  type MediaCall,
  MediaFault,
  type MediaReply,
  type MediaTools,
  type Payload,
  type Upload,
} from '../../media.ts'
import { sandbox } from '../vendor.ts'

export function payloadOf(bytes: Uint8Array, type: string): Payload {
  return { type, size: bytes.length, read: (start, end) => bytes.subarray(start, end) }
}

interface StandIn {
  readonly tools: MediaTools
  /** The duration of every wait in milliseconds, in order. */
  readonly waits: readonly number[]
}

/** Waits return at once; from the `end`th on they reject, as if the request were over. */
export function standIn(end = 1_000): StandIn {
  const waits: number[] = []
  const never = () => Promise.reject(new Error('the sandbox asks nobody'))
  const tools: MediaTools = {
    baseUrl: 'http://sandbox.invalid/v1',
    nowMs: 0,
    addressOf: () => 'http://sandbox.invalid/v1',
    spool: {
      keeper: () => {
        throw new Error('the sandbox keeps nothing')
      },
      inMemory: payloadOf,
      close: () => undefined,
    },
    ask: never,
    open: never,
    fetch: never,
    faultOf({ status, payload }) {
      const text = new TextDecoder().decode(payload.read(0, payload.size))
      const fault: Fault = { kind: 'vendor_error', status, message: text }
      return new MediaFault(fault)
    },
    async wait(ms) {
      waits.push(ms)
      if (waits.length >= end)
        throw new MediaFault({ kind: 'cut', message: 'the request has ended' })
    },
  }
  return { tools, waits }
}

export async function serve(
  dialect: VendorDialectId,
  fields: JsonObject,
  { uploads = [], at = standIn() }: { uploads?: readonly Upload[]; at?: StandIn } = {},
): Promise<MediaReply> {
  const model = String(fields['model'])
  const stream = fields['stream'] === true
  const call: MediaCall = { dialect, model, fields, uploads, stream }
  const adapter = sandbox.adapters?.[dialect]
  if (adapter === undefined) throw new Error(`no adapter for ${dialect}`)
  return adapter.serve(call, at.tools)
}

export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return all
}
