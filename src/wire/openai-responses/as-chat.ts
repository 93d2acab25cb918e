// Reads a body of the Responses format that was sent to `/v1/chat/completions`, as Cursor does, as a chat's.

import { invalidRequest } from '../../errors.ts'
import type { ChatRequest, JsonObject, JsonValue } from '../ir.ts'
import { isObject, objectsIn, stringOf } from '../json/value.ts'
import { chatHub } from '../openai-chat/hub.ts'
import { hasFields } from '../openai-chat/hub-fields.ts'
import { peekChat, peekMessages } from '../openai-chat/peek.ts'
import type { Peek } from '../request.ts'
import { responsesHub } from './hub.ts'
import { ownFields, self } from './hub-fields.ts'
import { peekResponses } from './peek.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Members that need what only `/v1/responses` keeps. */
const stateful = ['previous_response_id', 'conversation', 'prompt', 'background'] as const

/** Members of the Responses format that chats do not have, and that are left out here. */
const left = [
  'truncation',
  'max_tool_calls',
  'context_management',
  'image',
  'access_programs',
] as const

/** What the hub has no field for: the rest goes on, as it may be a member of chats. */
function takeLeft(fields: JsonObject): string[] {
  const names: string[] = [...left, 'text', 'reasoning', 'tool_choice']
  const dropped = names.filter((name) => fields[name] !== undefined)
  for (const name of dropped) delete fields[name]
  return dropped
}

/** Tools as this format has them; in such bodies they may also be nested as chats have them. */
function flatTools(tools: JsonValue | undefined): JsonObject[] {
  return objectsIn(tools).map(({ function: inner, ...rest }) =>
    isObject(inner) ? { ...rest, ...inner } : rest,
  )
}

/** The request without the tools that only the vendors of this format run. */
function withFunctions({ tools = [], ...rest }: ChatRequest, dropped: string[]): ChatRequest {
  const kept = tools.filter((tool) => {
    if (tool.type !== 'other') return true
    dropped.push(`tools.${stringOf(tool.extra[self]?.['type'])}`)
    return false
  })
  return kept.length === 0 ? rest : { ...rest, tools: kept }
}

/** Of the members that the gateway handles for `/v1/responses`, those that ask for something. */
function askedFor(wording: JsonObject): string[] {
  const { include, store } = wording
  return [...(include === undefined ? [] : ['include']), ...(store === true ? ['store'] : [])]
}

function asChat(bytes: Uint8Array): { readonly bytes: Uint8Array; readonly dropped: string[] } {
  const body = JSON.parse(decoder.decode(bytes)) as JsonObject
  const kept = stateful.find((name) => body[name] != null && body[name] !== false)
  if (kept !== undefined) {
    throw invalidRequest(`${kept} is known only to /v1/responses`, kept)
  }
  const { stream_options: options, tools } = body
  const flat = tools == null ? body : { ...body, tools: flatTools(tools) }
  const { value, dropped: lost } = responsesHub.decodeRequest(flat)
  const { extra, wording, ...request } = value
  const rest = { ...ownFields(extra) }
  const dropped = [...lost, ...takeLeft(rest), ...askedFor(ownFields(wording))]
  const chat = chatHub.encodeRequest(withFunctions(request, dropped), request.model)
  const written = {
    ...rest,
    ...chat.value,
    ...(isObject(options) && hasFields(options) && { stream_options: options }),
  }
  return {
    bytes: encoder.encode(JSON.stringify(written)),
    dropped: [...dropped, ...chat.dropped],
  }
}

/** A chat's body, or one of the Responses format. Throws GatewayError naming the field at fault. */
export function peekChatOrResponse(body: Uint8Array): Peek {
  const peek = peekMessages(body)
  if (peek !== null) return peek
  const response = peekResponses(body)
  const { bytes, dropped } = asChat(response.body)
  return { ...peekChat(bytes), dropped: [...(response.dropped ?? []), ...dropped] }
}
