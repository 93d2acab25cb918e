// The text a model gives to a tool whose input is text, where it was offered as a function with one argument.

import type { JsonValue } from '../ir.ts'

/** The argument that holds the text. */
export const inputMember = 'input'

const opening = /^\s*\{\s*"input"\s*:\s*"/
/** Text that may still become the opening. */
const mayOpen = /^\s*(\{\s*("(i(n(p(u(t("\s*(:\s*)?)?)?)?)?)?)?)?)?$/
const escapes: ReadonlyMap<string, string> = new Map(
  Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }),
)

/** Takes the JSON of the arguments piece by piece and gives the text in it as it comes. One per call. */
export class FreeInput {
  /** Everything so far, while it is not sure to begin as expected; then what is not yet given out. */
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

  /** What is left: all of it, where the model put its text otherwise than it was asked to. */
  end(): string {
    const { state, held } = this
    this.state = 'over'
    this.held = ''
    if (state === 'over') return ''
    // Broken off within the text: an escape that was begun says nothing.
    return state === 'inside' ? '' : textIn(held)
  }

  /** The text up to its closing quote, or to an escape that is not whole. */
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

/** The character an escape stands for, without its backslash; itself where it is none. */
function unescaped(escape: string): string {
  if (!escape.startsWith('u')) return escapes.get(escape) ?? escape
  const unit = Number.parseInt(escape.slice(1), 16)
  return Number.isNaN(unit) ? escape : String.fromCharCode(unit)
}

/** The text of arguments of another form: of the one text they hold, or the arguments themselves. */
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
