// Sends one whole request to Gemini and interprets its errors.

import { readFault } from '../wire/gemini/fault.ts'
import type { JsonObject } from '../wire/ir.ts'
import { JsonBody, Lifted } from './base64.ts'
import { type MediaCall, MediaFault, type MediaTools } from './media.ts'

/** The most bytes read of an error's body. */
const maxErrorBytes = 65_536

/** Rejects with MediaFault. Signed explicitly, since a region may have a host other than the base address. */
export async function askGemini(
  { model }: MediaCall,
  tools: MediaTools,
  value: JsonObject,
  body = new JsonBody(),
): Promise<Lifted> {
  const url = tools.addressOf('gemini', model)
  const reply = await tools.ask({ method: 'POST', url, body: body.segments(value), signed: true })
  const { status, payload } = reply
  if (status >= 200 && status < 300) return Lifted.of(payload, tools.spool, () => tools.wait(0))
  const text = new TextDecoder().decode(payload.read(0, Math.min(payload.size, maxErrorBytes)))
  throw new MediaFault(readFault(status, (name) => reply.header(name), text))
}
