// What every OpenAI request body has in common: one object, a model, a stream switch.

import { invalidRequest } from '../../errors.ts'
import type { Span } from '../dialect.ts'
import {
  expectEnd,
  JsonSyntaxError,
  type Member,
  members,
  parseSpan,
  skipSpace,
  type Visit,
} from '../json/scan.ts'
import { numberOf, stringOf } from './rules.ts'

/**
 * Thrown where a member that the gateway acts on is repeated or spelled with an escape: two readers may
 * then see two things, so the body is put into its canonical form before it is judged.
 */
export class Ambiguous extends Error {}

/** A request body at its top level. */
export interface Body {
  readonly bytes: Uint8Array
  readonly members: readonly Member[]
  readonly keys: readonly string[]
  /** Offset of the closing brace. */
  readonly end: number
}

/** Up to this many keys a plain search beats a set. */
const FEW = 16

function distinctKeys(found: readonly Member[]): string[] {
  const keys: string[] = []
  const seen = found.length > FEW ? new Set<string>() : null
  for (const { key, escaped } of found) {
    if (escaped || (seen === null ? keys.includes(key) : seen.has(key))) throw new Ambiguous()
    keys.push(key)
    seen?.add(key)
  }
  return keys
}

/** The member whose value is checked during the one pass over the body, where it is an array. */
export interface Inside {
  readonly key: string
  readonly visit: Visit
}

/** Reads the top level of `bytes`. Throws Ambiguous, JsonSyntaxError, or GatewayError for anything but an object. */
function openBody(bytes: Uint8Array, inside: Inside): Body {
  const start = skipSpace(bytes, 0)
  if (bytes[start] !== 0x7b) {
    parseSpan(bytes, 0, bytes.length)
    throw invalidRequest('the request body must be a JSON object', null)
  }
  const found = members(bytes, start, inside.key, inside.visit)
  const last = found.at(-1)
  const end = skipSpace(bytes, last === undefined ? start + 1 : last.end)
  expectEnd(bytes, end + 1)
  return { bytes, members: found, keys: distinctKeys(found), end }
}

/** The same document with each key once and plainly spelled, as JSON.parse understands it. */
function canonical(bytes: Uint8Array): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(parseSpan(bytes, 0, bytes.length)))
}

/** Runs `read` on the body's bytes, or on their canonical form where they can be read in two ways. */
export function readBody<T>(bytes: Uint8Array, inside: Inside, read: (body: Body) => T): T {
  try {
    try {
      return read(openBody(bytes, inside))
    } catch (error) {
      if (!(error instanceof Ambiguous)) throw error
      return read(openBody(canonical(bytes), inside))
    }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw invalidRequest(`the request body is not valid JSON: ${error.message}`, null)
  }
}

/** The member `key`, unless it is absent or null. */
export function present(body: Body, key: string): Member | null {
  for (const member of body.members) {
    if (member.key === key) return member.kind === 'null' ? null : member
  }
  return null
}

export function modelOf(body: Body): { model: string; modelSpan: Span } {
  const member = present(body, 'model')
  if (member === null) throw invalidRequest('model is required', 'model')
  if (member.kind !== 'string') throw invalidRequest('model must be a string', 'model')
  const model = stringOf(body.bytes, member.start, member.end)
  if (model === '') throw invalidRequest('model must not be empty', 'model')
  return { model, modelSpan: { start: member.start, end: member.end } }
}

/** A number the rules have already passed. */
export function numberField(body: Body, key: string): number | null {
  const member = present(body, key)
  return member === null ? null : numberOf(body.bytes, member.start, member.end)
}

export interface StreamAsk {
  readonly stream: boolean
  readonly wantsUsage: boolean
  readonly streamOptionsSpan: Span | null
}

/** `stream` and `stream_options`; the latter is legal only on a stream. */
export function streamOf(body: Body): StreamAsk {
  const stream = present(body, 'stream')?.kind === 'true'
  const options = present(body, 'stream_options')
  if (options === null) return { stream, wantsUsage: false, streamOptionsSpan: null }
  // Beside an explicit `stream: false` it passes: OpenAI's own clients send both.
  if (!stream && present(body, 'stream') === null) {
    throw invalidRequest('stream_options is only allowed when stream is true', 'stream_options')
  }
  const inner = members(body.bytes, options.start)
  distinctKeys(inner)
  const usage = inner.find((member) => member.key === 'include_usage')
  if (usage && usage.kind !== 'true' && usage.kind !== 'false' && usage.kind !== 'null') {
    const param = 'stream_options.include_usage'
    throw invalidRequest(`${param} must be a boolean`, param)
  }
  return {
    stream,
    wantsUsage: usage?.kind === 'true',
    streamOptionsSpan: { start: options.start, end: options.end },
  }
}
