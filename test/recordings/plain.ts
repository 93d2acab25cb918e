// A simple reader of chat and completion replies, which shares no code with the tested readers.

import type { JsonObject, JsonValue } from '../../src/wire/ir.ts'

export interface PlainCall {
  id: string
  name: string
  input: string
}

export interface PlainChoice {
  text: string
  reasoning: string
  calls: PlainCall[]
  finish: string | null
}

export interface PlainReply {
  readonly choices: Map<number, PlainChoice>
  /** The last reported usage, unchanged. */
  usage: JsonObject | null
}

function object(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}

function list(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.map(object) : []
}

function string(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function readSaid(choice: PlainChoice, said: JsonObject): void {
  choice.text += string(said.content)
  choice.reasoning += string(said.reasoning_content) || string(said.reasoning)
  for (const part of list(said.content)) {
    choice.text += string(part.text)
    for (const thought of list(part.thinking)) choice.reasoning += string(thought.text)
  }
  for (const call of list(said.tool_calls)) readCall(choice, call)
}

function readCall(choice: PlainChoice, call: JsonObject): void {
  const target = object(call.function)
  const at = typeof call.index === 'number' ? call.index : choice.calls.length
  const known = choice.calls[at]
  const input = string(target.arguments)
  if (known === undefined) {
    choice.calls[at] = { id: string(call.id), name: string(target.name), input }
  } else known.input += input
}

/** Reads frames or, as the only one, a whole body. */
export function plainReading(frames: readonly string[]): PlainReply {
  const reply: PlainReply = { choices: new Map(), usage: null }
  for (const text of frames) {
    const frame = object(JSON.parse(text))
    if (frame.usage != null) reply.usage = object(frame.usage)
    for (const part of list(frame.choices)) {
      const index = Number(part.index ?? 0)
      const choice = reply.choices.get(index) ?? {
        text: '',
        reasoning: '',
        calls: [],
        finish: null,
      }
      reply.choices.set(index, choice)
      choice.text += string(part.text)
      readSaid(choice, object(part.delta ?? part.message))
      if (part.finish_reason != null) choice.finish = string(part.finish_reason)
    }
  }
  return reply
}

/** The same, with each call's input as a parsed value. */
export function meaning(reply: PlainReply): unknown {
  return [...reply.choices].map(([index, choice]) => ({
    index,
    ...choice,
    calls: choice.calls.map(({ id, name, input }) => ({ id, name, input: JSON.parse(input) })),
  }))
}
