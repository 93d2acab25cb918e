// Replies as the runtime takes them: of the relay, of operations and hooks, and what is put into another frame on its way.

import { Buffer } from 'node:buffer'
import type { Fields, Reply } from '../operations/operation.ts'
import type { Answer } from '../relay/request.ts'
import { join } from '../wire/json/splice.ts'
import type { Reframe } from '../wire/reply.ts'
import { addStreamFields, jsonType, streamType } from './respond.ts'

const maxDroppedChars = 1_024

/** `fields` become the reply's headers. `sinceMs`: `performance.now()` at its request's arrival. */
export function relayedReply(
  answer: Answer,
  fields: Fields,
  reframe: Reframe | null,
  sinceMs: number,
): Response {
  const elapsedMs = performance.now() - sinceMs
  fields['openai-processing-ms'] = String(Math.round(elapsedMs))
  const gatewayMs = Math.max(0, elapsedMs - answer.vendorMs)
  fields['server-timing'] =
    `gateway;dur=${hundredths(gatewayMs)}, vendor;dur=${hundredths(answer.vendorMs)}`
  if (answer.cost !== null) fields['x-tollgate-cost'] = answer.cost
  if (answer.dropped.length > 0) fields['x-tollgate-dropped'] = namesOf(answer.dropped)
  const plain = answer.stream ? streamType : (answer.type ?? jsonType)
  fields['content-type'] = reframe?.contentType ?? plain
  if (answer.stream) addStreamFields(fields)
  Object.assign(fields, answer.headers)
  const { body } = answer
  const shown = reframe === null || body instanceof Uint8Array ? body : reframed(body, reframe)
  // The runtime takes an async generator as a body; the DOM's types do not know of it.
  return new Response(shown as BodyInit, { headers: fields })
}

export function plainReply(
  { body, stream = false, status, headers }: Reply,
  fields: Fields,
  reframe: Reframe | null = null,
): Response {
  fields['content-type'] = stream ? streamType : jsonType
  if (stream) addStreamFields(fields)
  Object.assign(fields, headers)
  // Where no status is said the runtime answers ranges of files by itself.
  const init = { headers: fields, ...(status !== undefined && { status }) }
  if (reframe === null) return new Response(body as BodyInit | null, init)
  fields['content-type'] = reframe.contentType
  const shown =
    typeof body === 'string'
      ? join([reframe.push(Buffer.from(body, 'utf8')), reframe.end()])
      : reframed(body as AsyncGenerator<Uint8Array, void, void>, reframe)
  return new Response(shown as BodyInit, init)
}

/** A reply that breaks off in error stays without its end. */
async function* reframed(
  body: AsyncGenerator<Uint8Array, void, void>,
  reframe: Reframe,
): AsyncGenerator<Uint8Array, void, void> {
  for await (const chunk of body) {
    const shown = reframe.push(chunk)
    if (shown.length > 0) yield shown
  }
  yield reframe.end()
}

/** What a header may hold of them: a client's own names may be anything. */
function namesOf(dropped: readonly string[]): string {
  const names = [...new Set(dropped)].map((name) => name.replace(/[^\x21-\x7e]/g, '?'))
  return names.join(', ').slice(0, maxDroppedChars)
}

function hundredths(ms: number): number {
  return Math.round(ms * 100) / 100
}
