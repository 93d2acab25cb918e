// A vendor of chats and the Responses format that stores nothing: requests that would need stored data are refused, as
// OpenAI does.

import type { JsonObject } from '../../src/wire/ir.ts'

export interface Responder {
  /** The base address. */
  readonly url: string
  /** Bodies that it got, in order. */
  readonly bodies: JsonObject[]
  /** The state that each request brought back, which every reply issues. */
  readonly states: (string | null)[]
  /** Requests whose client broke off before the reply. */
  readonly aborted: number
  /** Answers waiting requests: a request that says `wait` is answered only then. */
  release(): void
  stop(): Promise<void>
}

export async function startResponder(): Promise<Responder> {
  const bodies: JsonObject[] = []
  const states: (string | null)[] = []
  let waiting: (() => void)[] = []
  let aborted = 0
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const body = (await request.json()) as JsonObject
      bodies.push(body)
      states.push(request.headers.get('x-codex-turn-state'))
      const asked = body['input'] ?? body['messages']
      const last = Array.isArray(asked) ? asked.at(-1) : asked
      if (JSON.stringify(last).includes('wait')) {
        await new Promise<void>((resolve) => {
          waiting.push(resolve)
          request.signal.addEventListener('abort', () => {
            aborted++
            resolve()
          })
        })
      }
      const reply = answerTo(request.url, body, bodies.length)
      reply.headers.set('x-codex-turn-state', `state-${bodies.length}`)
      return reply
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    bodies,
    states,
    get aborted() {
      return aborted
    },
    release() {
      for (const resolve of waiting) resolve()
      waiting = []
    },
    stop: () => server.stop(true),
  }
}

function answerTo(url: string, body: JsonObject, number: number): Response {
  if (url.endsWith('/responses/compact')) return compact(body, number)
  return url.endsWith('/responses') ? respond(body, number) : chat(body, number)
}

const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }

function chat(body: JsonObject, number: number): Response {
  const text = JSON.stringify(body).includes('say nothing') ? '' : `Chat ${number}.`
  const message = { role: 'assistant', content: text, refusal: null }
  const base = { id: `chatcmpl-${number}`, created: 5, model: 'gpt-5' }
  if (body['stream'] !== true) {
    const choices = [{ index: 0, message, finish_reason: 'stop', logprobs: null }]
    return Response.json({ ...base, object: 'chat.completion', choices, usage })
  }
  const frame = (choices: unknown[], more = {}) =>
    `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices, ...more })}\n\n`
  const begun = frame([{ index: 0, delta: message, finish_reason: null }])
  if (JSON.stringify(body).includes('break')) return stream(begun)
  return stream(
    begun +
      frame([{ index: 0, delta: {}, finish_reason: 'stop' }]) +
      frame([], { usage }) +
      'data: [DONE]\n\n',
  )
}

function stream(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
}

function refusal(message: string, param: string): Response {
  const error = { message, type: 'invalid_request_error', param, code: null }
  return Response.json({ error }, { status: 400 })
}

function respond(body: JsonObject, number: number): Response {
  const { model, input, include, store, previous_response_id: previous, background } = body
  if (store !== false) return refusal('store must be false', 'store')
  if (previous != null) return refusal('not found', 'previous_response_id')
  if (background === true) return refusal('not here', 'background')
  const reasons = model === 'gpt-5'
  if (!reasons && include !== undefined)
    return refusal('encrypted content is not supported', 'include')
  if (Array.isArray(input)) {
    for (const item of input as JsonObject[]) {
      // A compaction is complete in itself, under any id.
      if (item['id'] !== undefined && item['type'] !== 'compaction')
        return refusal(`Item '${item['id']}' not found`, 'input')
      const sealed = item['encrypted_content']
      if (item['type'] === 'reasoning' && !String(sealed).startsWith('sealed-'))
        return refusal('the encrypted content could not be verified', 'input')
    }
  }
  const item = { id: `msg_${number}`, type: 'message', role: 'assistant', status: 'completed' }
  const part = { type: 'output_text', text: `Response ${number}.`, annotations: [], logprobs: [] }
  const thought = {
    id: `rs_${number}`,
    type: 'reasoning',
    summary: [],
    encrypted_content: `sealed-${number}`,
  }
  const output = [...(reasons ? [thought] : []), { ...item, content: [part] }]
  const response = {
    id: `resp_vendor${number}`,
    object: 'response',
    created_at: 5,
    model,
    error: null,
    incomplete_details: null,
    instructions: body['instructions'] ?? null,
    metadata: body['metadata'] ?? {},
    store,
    previous_response_id: null,
    background: false,
    parallel_tool_calls: true,
    tools: [],
    tool_choice: 'auto',
  }
  const whole = {
    ...response,
    status: 'completed',
    output,
    usage: {
      input_tokens: 11,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 18,
    },
  }
  if (body['stream'] !== true) return Response.json(whole)
  return stream(framesOf({ ...response, status: 'in_progress', output: [] }, output, whole))
}

/** The fields of this interface, without those about storing. OpenAI, "Compact a response". */
const compactNames = new Set(['model', 'input', 'instructions', 'prompt_cache_key', 'service_tier'])

function compact(body: JsonObject, number: number): Response {
  const unknown = Object.keys(body).find((name) => !compactNames.has(name))
  if (unknown !== undefined) return refusal(`Unknown parameter: '${unknown}'.`, unknown)
  const item = { id: `cmp_${number}`, type: 'compaction', encrypted_content: `gist-${number}` }
  return Response.json({
    id: `resp_vendor${number}`,
    object: 'response.compaction',
    created_at: 5,
    output: [item],
    usage: {
      input_tokens: 11,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 18,
    },
  })
}

function framesOf(begun: object, output: readonly JsonObject[], whole: object): string {
  let number = 0
  const frame = (type: string, fields: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number++, ...fields })}\n\n`
  let text = frame('response.created', { response: begun })
  text += frame('response.in_progress', { response: begun })
  for (const [index, item] of output.entries()) {
    const place = { output_index: index }
    const [part] = (item['content'] ?? []) as JsonObject[]
    if (part === undefined) {
      text += frame('response.output_item.added', { ...place, item })
    } else {
      const inPart = { ...place, item_id: item['id'], content_index: 0 }
      text += frame('response.output_item.added', { ...place, item: { ...item, content: [] } })
      text += frame('response.content_part.added', { ...inPart, part: { ...part, text: '' } })
      text += frame('response.output_text.delta', { ...inPart, delta: part['text'], logprobs: [] })
      text += frame('response.output_text.done', { ...inPart, text: part['text'], logprobs: [] })
      text += frame('response.content_part.done', { ...inPart, part })
    }
    text += frame('response.output_item.done', { ...place, item })
  }
  return text + frame('response.completed', { response: whole })
}
