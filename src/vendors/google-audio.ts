// Shared by Gemini's speech and transcripts: one form of call (Gemini API, "Speech generation", "Audio understanding").

import { invalidRequest } from '../errors.ts'
import { readUsage } from '../wire/gemini/usage.ts'
import type { JsonObject } from '../wire/ir.ts'
import { isObject, listOf, objectOf } from '../wire/json/value.ts'
import { unreadable } from './audio-fields.ts'
import { JsonBody, type Lifted } from './base64.ts'
import { askGemini } from './gemini-ask.ts'
import { type MediaCall, MediaFault, type MediaTools } from './media.ts'

/** The parts of a reply that both use. */
export interface Generated {
  readonly parts: readonly JsonObject[]
  /** Decodes the base64 in a part. */
  bytesAt: Lifted['bytesAt']
  readonly usage: ReturnType<typeof readUsage>
}

/** Requests one whole reply. Rejects with MediaFault. */
export async function generate(
  call: MediaCall,
  tools: MediaTools,
  value: JsonObject,
  body = new JsonBody(),
): Promise<Generated> {
  return generatedIn(await askGemini(call, tools, value, body))
}

function generatedIn(reply: Lifted): Generated {
  const body = reply.json
  if (!isObject(body)) throw unreadable('the reply is not an object')
  const { candidates, promptFeedback, usageMetadata } = body
  const [candidate] = listOf(candidates)
  const blocked = isObject(promptFeedback) ? promptFeedback.blockReason : undefined
  if (typeof blocked === 'string') throw refused(blocked)
  if (!isObject(candidate)) throw unreadable('the reply has no candidate')
  const { finishReason, content } = candidate
  if (typeof finishReason === 'string' && finishReason !== 'STOP') throw finished(finishReason)
  const parts = listOf(objectOf(content).parts)
  return {
    bytesAt: (value) => reply.bytesAt(value),
    parts: parts.filter(isObject).filter(({ thought }) => thought !== true),
    usage: readUsage(usageMetadata),
  }
}

function refused(reason: string): MediaFault {
  return new MediaFault({
    kind: 'rejected',
    message: `the request was blocked: ${reason}`,
    code: 'content_policy_violation',
  })
}

const blocking = /^(SAFETY|RECITATION|BLOCKLIST|PROHIBITED_CONTENT|SPII|LANGUAGE)$/

function finished(reason: string): MediaFault {
  if (blocking.test(reason)) return refused(reason)
  // Not the channel's fault: another attempt would end at the same place.
  if (reason === 'MAX_TOKENS')
    return new MediaFault({ kind: 'rejected', message: 'the input is too long for this model' })
  return new MediaFault({ kind: 'vendor_error', message: `the reply ended early: ${reason}` })
}

/** Throws GatewayError for a speed, which Gemini's format lacks. */
export function refuseSpeed({ fields }: MediaCall): void {
  if ((fields['speed'] ?? 1) !== 1)
    throw invalidRequest('speed is not possible with this model', 'speed')
}
