// Extracts the text from a call of a tool with text input that was offered as a function with one string argument.

import type { JsonValue } from '../ir.ts'

/** The name of the argument that holds the text. */
export const inputMember = 'input'

const opening = /^\s*\{\s*"input"\s*:\s*"/
/** A text that may still become the opening. */
const mayOpen = /^\s*(\{\s*("(i(n(p(u(t("\s*(:\s*)?)?)?)?)?)?)?)?)?$/
const escapes: ReadonlyMap<string, string> = new Map(
  Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }),
)

/** Takes the arguments' JSON in pieces and gives the text inside as it arrives. One per call. */
export class FreeInput {
  /** All input, until its beginning is recognised; then only what is not yet given out. */
  private held = ''
  private state: 'opening' | 'inside' | 'over' | 'other' = 'opening'

  push(piece: string): string {
    if (this.state === 'over') return ''
    this.held += piece
    if (this.state === 'opening') {
      const found = opening.exec(this.held)
      if (found !== null) {
        this.state = 'inside'
        this.held = this.held.slice(found[0].length)
      } else if (!mayOpen.test(this.held)) this.state = 'other'
    }
    return this.state === 'inside' ? this.readable() : ''
  }

  /** The remaining text: all of the input, where the model did not use the expected form. */
  end(): string {
    const { state, held } = this
    this.state = 'over'
    this.held = ''
    if (state === 'over') return ''
    // Cut off within the text: an incomplete escape is dropped.
    return state === 'inside' ? '' : textIn(held)
  }

  /** The text up to its closing quote, or to an incomplete escape. */
  private readable(): string {
    const { held } = this
    let out = ''
    let from = 0
    for (let at = 0; at < held.length; at++) {
      const unit = held.charAt(at)
      if (unit === '"') {
        this.state = 'over'
        this.held = ''
        return out + held.slice(from, at)
      }
      if (unit !== '\\') continue
      const length = held.charAt(at + 1) === 'u' ? 6 : 2
      if (at + length > held.length) {
        out += held.slice(from, at)
        this.held = held.slice(at)
        return out
      }
      out += held.slice(from, at) + unescaped(held.slice(at + 1, at + length))
      at += length - 1
      from = at + 1
    }
    this.held = ''
    return out + held.slice(from)
  }
}

/** The character an escape stands for, given without its backslash; the escape itself if it is invalid. */
function unescaped(escape: string): string {
  if (!escape.startsWith('u')) return escapes.get(escape) ?? escape
  const unit = Number.parseInt(escape.slice(1), 16)
  return Number.isNaN(unit) ? escape : String.fromCharCode(unit)
}

/** The text in arguments of another form: the single string they contain, else the arguments themselves. */
function textIn(text: string): string {
  let value: JsonValue
  try {
    value = JSON.parse(text) as JsonValue
  } catch (error) {
    if (error instanceof SyntaxError) return text
    throw error
  }
  if (typeof value === 'string') return value
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return text
  const input = value[inputMember]
  if (typeof input === 'string') return input
  const [only, ...more] = Object.values(value)
  if (only === undefined) return ''
  return typeof only === 'string' && more.length === 0 ? only : text
}
