// Messages of a chat completion request, into the hub and out of it.

import { invalidRequest } from '../../errors.ts'
import type { JsonObject, JsonValue, Message, RequestPart, Role } from '../ir.ts'
import { isObject } from '../openai/usage.ts'
import { mergeFields, ownFields, present, stringOf, withExtra } from './hub-fields.ts'

const roles: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'assistant', 'tool'])

function isRole(role: JsonValue | undefined): role is Role {
  return typeof role === 'string' && roles.has(role)
}

export function decodeMessage(value: JsonValue, index: number): Message {
  if (!isObject(value)) {
    throw invalidRequest(`messages[${index}] must be an object`, `messages[${index}]`)
  }
  const { role, content, tool_calls: calls, tool_call_id: callId, ...rest } = present(value)
  const parts = contentParts(content)
  if (Array.isArray(calls)) for (const call of calls) if (isObject(call)) parts.push(callPart(call))
  return {
    // The deprecated role `function` answers a call as `tool` does, but by name.
    role: isRole(role) ? role : 'tool',
    parts,
    ...(typeof callId === 'string' && { callId }),
    ...withExtra(isRole(role) ? rest : { role: stringOf(role), ...rest }),
  }
}

function contentParts(content: JsonValue | undefined): RequestPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content.filter(isObject).map(contentPart) : []
}

function contentPart(part: JsonObject): RequestPart {
  const { type, ...fields } = present(part)
  if (type === 'text' && typeof fields['text'] === 'string') {
    const { text, ...rest } = fields
    return { type: 'text', text: stringOf(text), ...withExtra(rest) }
  }
  const image = fields['image_url']
  if (type === 'image_url' && isObject(image) && typeof image['url'] === 'string') {
    const { url, ...details } = present(image)
    const { image_url: _, ...rest } = fields
    const kept = Object.keys(details).length > 0 ? { ...rest, image_url: details } : rest
    return { type: 'image', url: stringOf(url), ...withExtra(kept) }
  }
  return { type: 'other', extra: { 'openai-chat': part } }
}

function callPart(call: JsonObject): RequestPart {
  const { id, type, function: target, custom, ...rest } = present(call)
  if (isObject(custom)) {
    const { name, input, ...more } = custom
    const kept = Object.keys(more).length > 0 ? { ...rest, custom: more } : rest
    return {
      type: 'tool-call',
      id: stringOf(id),
      name: stringOf(name),
      arguments: stringOf(input),
      custom: true,
      ...withExtra(kept),
    }
  }
  const { name, arguments: input, ...more } = isObject(target) ? target : {}
  const kept = Object.keys(more).length > 0 ? { ...rest, function: more } : rest
  const known = type === undefined || type === 'function'
  return {
    type: 'tool-call',
    id: stringOf(id),
    name: stringOf(name),
    arguments: stringOf(input),
    ...withExtra(known ? kept : { type, ...kept }),
  }
}

/** What this format cannot say goes to `dropped` by its place. */
export function encodeMessage(message: Message, index: number, dropped: string[]): JsonObject {
  const content: JsonObject[] = []
  const calls: JsonObject[] = []
  for (const [at, part] of message.parts.entries()) {
    if (part.type === 'tool-call') {
      calls.push(encodeCall(part))
      continue
    }
    const encoded = encodePart(part)
    if (encoded === null) dropped.push(`messages[${index}].content[${at}]`)
    else content.push(encoded)
  }
  return {
    role: message.role,
    content: contentOf(message.role, content),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(message.callId !== undefined && { tool_call_id: message.callId }),
    ...ownFields(message.extra),
  }
}

/** One plain text as a string, which every vendor reads; only an assistant may say nothing. */
function contentOf(role: Role, parts: readonly JsonObject[]): JsonValue {
  const [first] = parts
  if (first === undefined) return role === 'assistant' ? null : []
  const plain = parts.length === 1 && first['type'] === 'text' && Object.keys(first).length === 2
  return plain ? stringOf(first['text']) : [...parts]
}

function encodePart(part: RequestPart): JsonObject | null {
  if (part.type === 'text') return { type: 'text', text: part.text, ...ownFields(part.extra) }
  if (part.type === 'image') {
    return mergeFields({ type: 'image_url', image_url: { url: part.url } }, ownFields(part.extra))
  }
  return part.type === 'other' ? (part.extra['openai-chat'] ?? null) : null
}

export function encodeCall(part: RequestPart & { readonly type: 'tool-call' }): JsonObject {
  const { id, name, arguments: input, custom } = part
  const call: JsonObject = custom
    ? { id, type: 'custom', custom: { name, input } }
    : { id, type: 'function', function: { name, arguments: input } }
  return mergeFields(call, ownFields(part.extra))
}
