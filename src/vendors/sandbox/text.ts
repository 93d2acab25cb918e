// The sandbox's texts and its token count: words from the request, and tokens by a documented rule.

import type { JsonValue } from '../../wire/ir.ts'
import { isObject } from '../../wire/json/value.ts'

/** The longest part of the user's message that is echoed, in UTF-16 units. */
const echoLimit = 200

const filler = ['sandbox', 'token', 'with', 'no', 'meaning']

/** Text of a message's content: the string itself, or its text parts joined. */
export function contentText(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  let text = ''
  for (const part of content) {
    if (isObject(part) && typeof part.text === 'string') text += part.text
  }
  return text
}

/** The rule in docs/sandbox.md: one token for each four UTF-8 bytes, rounded up. */
export function countTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4)
}

function shorten(text: string): string {
  const line = text
    .slice(0, 4 * echoLimit)
    .replace(/\s+/g, ' ')
    .trim()
  return line.length > echoLimit ? `${line.slice(0, echoLimit).trimEnd()}...` : line
}

/** The sandbox's one sentence about what it was sent. */
export function echo(said: string): string {
  return `This is Tollgate's sandbox, no model was asked. You said: ${shorten(said)}`
}

/** Splits text into output tokens: words, each with the space before it. */
function words(text: string): string[] {
  // Behind the last word the pattern would try every rest of the spaces.
  return text.trimEnd().match(/\s*\S+/g) ?? []
}

/** Output given by its length and a function for each token, so that a long one takes no memory. */
export interface Output {
  readonly length: number
  at(index: number): string
}

export function natural(text: string): Output {
  const list = words(text)
  return { length: list.length, at: (index) => list[index] ?? '' }
}

/** The text cut or padded to a number of tokens; `limit`: the client's maximum. */
export function sized(
  text: string,
  tokens: number | null,
  limit: number | null,
): Output & { readonly cut: boolean } {
  const list = words(text)
  const wanted = tokens ?? list.length
  const length = limit === null ? wanted : Math.min(wanted, limit)
  return {
    length,
    cut: length < wanted,
    at: (index) => list[index] ?? ` ${filler[index % filler.length] ?? ''}`,
  }
}

export function joined(output: Output): string {
  let text = ''
  for (let index = 0; index < output.length; index += 1) text += output.at(index)
  return text
}
