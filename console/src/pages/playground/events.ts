// Reads server-sent events as they arrive, divided anywhere, and joins the chunks of a chat.

import type { Answer, Failure, ToolCall } from './chat.ts'

/** Takes the next piece of a stream's text and returns the data of the events that it completes. */
export function eventReader(): (piece: string) => readonly string[] {
  let rest = ''
  return (piece) => {
    // A carriage return at the end may be half of a line end.
    const text = rest + piece
    const lines = text.split(/\r\n|\n|\r(?!$)/)
    const found: string[] = []
    let begun = 0
    let data: string[] = []
    let length = 0
    for (const line of lines.slice(0, -1)) {
      const end = text.startsWith('\r\n', length + line.length) ? 2 : 1
      length += line.length + end
      if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
      if (line !== '') continue
      if (data.length > 0) found.push(data.join('\n'))
      data = []
      begun = length
    }
    rest = text.slice(begun)
    return found
  }
}

type Content = Pick<Answer, 'text' | 'reasoning' | 'calls'>

export interface Heard extends Content {
  /** `[DONE]` arrived, or the model gave a finish reason. */
  readonly isWhole: boolean
  readonly failure: Failure | null
}

export const nothingHeard: Heard = {
  text: '',
  reasoning: '',
  calls: [],
  isWhole: false,
  failure: null,
}

interface Delta {
  readonly content?: string | null
  readonly refusal?: string | null
  readonly reasoning_content?: string | null
  readonly reasoning?: string | null
  readonly tool_calls?: readonly {
    readonly index?: number
    readonly id?: string
    readonly function?: { readonly name?: string; readonly arguments?: string }
  }[]
}

interface Chunk {
  readonly choices?: readonly {
    readonly index?: number
    readonly delta?: Delta
    readonly finish_reason?: string | null
  }[]
  readonly error?: { readonly code?: string | null; readonly message?: string }
}

/** Throws SyntaxError if an event is not JSON. */
export function hear(heard: Heard, data: string): Heard {
  if (data === '[DONE]') return { ...heard, isWhole: true }
  const { choices, error }: Chunk = JSON.parse(data)
  if (error !== undefined) return { ...heard, failure: failureOf(error) }
  const choice = choices?.find(({ index = 0 }) => index === 0)
  if (choice === undefined) return heard
  const { delta = {}, finish_reason: reason } = choice
  return {
    text: heard.text + (delta.content ?? delta.refusal ?? ''),
    reasoning: heard.reasoning + (delta.reasoning_content ?? delta.reasoning ?? ''),
    calls: (delta.tool_calls ?? []).reduce(addCall, heard.calls),
    isWhole: heard.isWhole || (reason !== null && reason !== undefined),
    failure: heard.failure,
  }
}

export function failureOf(error: {
  readonly code?: string | null
  readonly message?: string
}): Failure {
  return { code: error.code ?? 'error', message: error.message ?? '' }
}

function addCall(
  calls: readonly ToolCall[],
  { index = 0, id, function: piece }: NonNullable<Delta['tool_calls']>[number],
): readonly ToolCall[] {
  const before = calls[index] ?? { id: '', name: '', arguments: '' }
  const call = {
    id: id || before.id,
    name: before.name + (piece?.name ?? ''),
    arguments: before.arguments + (piece?.arguments ?? ''),
  }
  return index < calls.length ? calls.with(index, call) : [...calls, call]
}
