// The small changes that vendors need in a request, each defined once and combined by name.

import type { JsonObject, JsonValue } from '../wire/ir.ts'
import { objectsIn, stringOf } from '../wire/json/value.ts'
import type { Amend, Call, ChannelSettings } from './vendor.ts'

/** One change to a request's body, made in place, and the signs that it may be needed. */
export interface Amendment {
  /** Top-level members whose presence requires it. */
  readonly keys?: readonly string[]
  /** Texts whose presence anywhere in the body requires it, quotes included. */
  readonly texts?: readonly string[]
  /** Tells calls that may need it whatever their body has. */
  readonly wants?: (call: Call) => boolean
  apply(body: JsonObject, call: Call, options: ChannelSettings['options']): void
}

export function amendments(...list: readonly Amendment[]): Amend {
  const wanting = list.flatMap(({ wants }) => wants ?? [])
  return {
    keys: list.flatMap((amendment) => amendment.keys ?? []),
    texts: list.flatMap((amendment) => amendment.texts ?? []),
    ...(wanting.length > 0 && { wants: (call) => wanting.some((wants) => wants(call)) }),
    body(body, call, options = {}) {
      for (const amendment of list) amendment.apply(body, call, options)
      return body
    },
  }
}

/** Whether a request must go through `amend.body`; `keys` are its top-level members. */
export function needsAmend(
  amend: Amend,
  keys: readonly string[],
  body: Uint8Array,
  call: Call,
): boolean {
  if (amend.wants?.(call) === true) return true
  if (amend.keys.some((key) => key === '*' || keys.includes(key))) return true
  if (amend.texts === undefined || amend.texts.length === 0) return false
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  return amend.texts.some((text) => bytes.includes(text))
}

/** Renames a member to the vendor's own name; a value already under that name wins. */
export function renamed(from: string, to: string): Amendment {
  return {
    keys: [from],
    apply(body) {
      if (body[from] === undefined) return
      body[to] ??= body[from]
      delete body[from]
    },
  }
}

/** For vendors that ignore or refuse OpenAI's newer name of the limit: they would generate without one. */
export const maxTokensOnly = renamed('max_completion_tokens', 'max_tokens')

/** Removes members that do not affect the model, for vendors that refuse unknown members. */
export function dropped(...names: readonly string[]): Amendment {
  return {
    keys: names,
    apply(body) {
      for (const name of names) delete body[name]
    },
  }
}

/** Removes a member whose value is the vendor's default anyway; the vendor judges any other value. */
export function droppedWhen(name: string, ...values: readonly JsonValue[]): Amendment {
  return {
    keys: [name],
    apply(body) {
      const value = body[name]
      if (value !== undefined && values.includes(value)) delete body[name]
    },
  }
}

/** The request's messages that are objects. */
export function messagesOf(body: JsonObject): JsonObject[] {
  return objectsIn(body.messages)
}

/** Renames OpenAI's newer role `developer` to `system`, for vendors that know only the old name. */
export const developerAsSystem: Amendment = {
  texts: ['"developer"'],
  apply(body) {
    for (const message of messagesOf(body)) {
      if (message.role === 'developer') message.role = 'system'
    }
  },
}

/** Removes the names of speakers, for vendors that refuse them; a result of a tool or function has one everywhere. */
export const unnamed: Amendment = {
  texts: ['"name"'],
  apply(body) {
    for (const message of messagesOf(body)) {
      if (message.role !== 'tool' && message.role !== 'function') delete message.name
    }
  },
}

/**
 * Gives replayed turns with calls their reasoning under the one name that these vendors read: where it is missing they
 * answer 400 in thinking mode. `missing` stands for it there; `reasoning` is the name some clients keep it under.
 */
export function replayedReasoning(missing: string, name = /./): Amendment {
  return {
    texts: ['"tool_calls"'],
    apply(body, { model }) {
      if (!name.test(model)) return
      for (const message of messagesOf(body)) {
        if (message.role !== 'assistant' || !Array.isArray(message.tool_calls)) continue
        const { reasoning, reasoning_content: own } = message
        if (typeof own === 'string' && own !== '') continue
        message.reasoning_content = stringOf(reasoning) || missing
        delete message.reasoning
      }
    },
  }
}

/** Switches thinking off in Anthropic's way, for vendors that know no effort `none`, and models that can. */
export function noneAsDisabled(name: RegExp): Amendment {
  return {
    texts: ['"none"'],
    apply(body, { model }) {
      if (body.reasoning_effort !== 'none') return
      delete body.reasoning_effort
      if (name.test(model)) body.thinking ??= { type: 'disabled' }
    },
  }
}
