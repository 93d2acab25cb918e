// Compaction for models whose vendors lack it: the model writes a summary, which replaces the conversation.

import {
  type ClientHub,
  type Decoded,
  UnfitReply,
  type VendorHub,
  type WriterHead,
} from '../codec.ts'
import { fold } from '../hub/fold.ts'
import type { ChatEvent, ChatRequest, JsonObject, Message } from '../ir.ts'
import { objectsIn } from '../json/value.ts'
import { sharedFields } from '../openai-chat/hub-options.ts'
import { responsesHub } from '../openai-responses/hub.ts'
import { usageOf } from '../openai-responses/hub-body.ts'
import { ownFields, self as responses } from '../openai-responses/hub-fields.ts'
import { inputItems } from '../openai-responses/kept.ts'
import { encodeSummary } from '../openai-responses/summary.ts'

const self = 'openai-compaction'

const wish: Message = {
  role: 'user',
  parts: [
    {
      type: 'text',
      text:
        'Write a summary of this conversation that will stand in its place. What the user wrote is kept beside it; ' +
        'everything else is lost. Say what is wanted and was decided, what was done and found, with every name, ' +
        'path, figure and piece of code that is still needed, and what comes next. Answer with the summary alone, ' +
        'and call no tool.',
    },
  ],
}

/** The user's messages, with which the compacted conversation begins. */
function userItems(body: JsonObject): JsonObject[] {
  return inputItems(body).filter(
    ({ type = 'message', role }) => type === 'message' && role === 'user',
  )
}

/** The fields about the end user and about how the vendor processes the request. */
function keptOf(value: ChatRequest): Partial<ChatRequest> {
  const kept = (['user', ...sharedFields] as const).filter((field) => value[field] !== undefined)
  return Object.fromEntries(kept.map((field) => [field, value[field]]))
}

/** Throws GatewayError naming the field. Input may be empty, as with OpenAI. Keeps only what the summary needs. */
function decodeRequest(body: JsonObject): Decoded<ChatRequest> {
  const { value, dropped } = responsesHub.decodeRequest(body)
  const { model, messages, tools = [], extra } = value
  const { instructions } = ownFields(value.wording)
  const request: ChatRequest = {
    model,
    messages: [...messages, wish],
    stream: false,
    ...(tools.length > 0 && { tools, toolChoice: { mode: 'none' } }),
    ...keptOf(value),
    ...(extra !== undefined && { extra }),
    wording: {
      [responses]: instructions === undefined ? {} : { instructions },
      [self]: { kept: userItems(body) },
    },
  }
  return { value: request, dropped }
}

/** For a vendor that has compaction itself. */
function encodeRequest(request: ChatRequest, model: string): Decoded<JsonObject> {
  const { toolChoice: _, ...asked } = request
  const messages = request.messages.slice(0, -1)
  const { value, dropped } = responsesHub.encodeRequest({ ...asked, messages }, model)
  const { store: __, include: ___, ...body } = value
  return { value: body, dropped }
}

/** Throws UnfitReply for a missing or incomplete summary: the conversation would be lost. */
function summaryOf(events: readonly ChatEvent[]): string {
  const [choice] = fold(events).choices
  const refused = choice?.parts.some(({ head }) => head.type === 'refusal') === true
  const text = (choice?.parts ?? []).map((part) => (part.head.type === 'text' ? part.text : ''))
  const summary = text.join('')
  if (refused || choice?.reason === 'content_filter' || summary.trim() === '') {
    throw new UnfitReply('the model gave no summary of the conversation')
  }
  if (choice?.reason === 'length') {
    throw new UnfitReply('the summary of the conversation was cut off for its length')
  }
  return summary
}

/** OpenAI, "Compact a response": the user's messages, and a single item for everything else. */
function writeWhole(events: readonly ChatEvent[], head: WriterHead): JsonObject {
  const base = head.id.replace(/^resp_/, '')
  const kept = objectsIn(head.request?.wording?.[self]?.['kept']).map((item, at) => ({
    id: `msg_${base}_${at}`,
    status: 'completed',
    ...item,
    type: 'message',
    content: contentOf(item['content']),
  }))
  const summary = encodeSummary(summaryOf(events))
  const { usage } = fold(events)
  return {
    id: head.id,
    object: 'response.compaction',
    created_at: head.createdAt,
    output: [...kept, { id: `cmp_${base}`, type: 'compaction', encrypted_content: summary }],
    usage: usage === null ? null : usageOf(usage),
  }
}

function contentOf(content: JsonObject[string] | undefined): JsonObject[string] {
  if (typeof content === 'string') return [{ type: 'input_text', text: content }]
  return content ?? []
}

/** Replies are read as in Responses: a vendor's own compaction passes unchanged; compaction is never streamed. */
export const compactionHub: ClientHub & VendorHub = {
  ...responsesHub,
  decodeRequest,
  encodeRequest,
  writeWhole,
}
