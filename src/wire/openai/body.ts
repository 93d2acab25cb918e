// What all request bodies in OpenAI's style have in common: one object, a model, a stream switch.

import { GatewayError, invalidRequest } from '../../errors.ts'
import { checkNames, type Place } from '../json/names.ts'
import {
  expectEnd,
  JsonSyntaxError,
  type Member,
  members,
  parseSpan,
  skipSpace,
  type Visit,
  valueEnd,
} from '../json/scan.ts'
import { join, splice } from '../json/splice.ts'
import { forgetStrings, rememberStrings } from '../json/strings.ts'
import { withoutMember } from '../json/without.ts'
import type { Span } from '../request.ts'
import { numberOf, stringOf } from './rules.ts'

/** A request body at its top level. */
export interface Body {
  readonly bytes: Uint8Array
  readonly members: readonly Member[]
  readonly keys: readonly string[]
  /** Offset of the closing brace. */
  readonly end: number
  /** Members that were cut out of the client's body. */
  readonly dropped: readonly string[]
  /** A top-level member that must not be passed on, because a vendor might interpret it; null if there is none. */
  unwanted: string | null
}

const none: readonly string[] = []
const emptyStringBytes = 2

/** What a format knows about its bodies. */
export interface Inside {
  /** The member whose value, if it is an array, is checked during the pass over the body. */
  readonly key: string
  readonly visit: Visit
  /** The names that have a meaning in the format. */
  readonly names: Place
}

/** For formats without a list that is checked during the pass over the body. */
export function nothingInside(names: Place): Inside {
  return { key: '', visit: valueEnd, names }
}

/** Reads the top level of `bytes`. Throws JsonSyntaxError, or GatewayError for anything but an object. */
function openBody(bytes: Uint8Array, inside: Inside, dropped: readonly string[]): Body {
  const start = skipSpace(bytes, 0)
  if (bytes[start] !== 0x7b) {
    parseSpan(bytes, 0, bytes.length)
    throw invalidRequest('the request body must be a JSON object', null)
  }
  const found = members(bytes, start, inside.key, inside.visit)
  const last = found.at(-1)
  const end = skipSpace(bytes, last === undefined ? start + 1 : last.end)
  expectEnd(bytes, end + 1)
  return { bytes, members: found, keys: found.map(({ key }) => key), end, dropped, unwanted: null }
}

/**
 * Runs `read` on the body's bytes and ensures that all JSON readers read them alike: no name twice in an object, no
 * known name in another case, no name hidden by escapes (these are spelled plainly, so that `read` may compare
 * bytes). If `read` finds an unwanted member, it is cut out and the body is read again.
 */
export function readBody<T>(
  bytes: Uint8Array,
  inside: Inside,
  read: (body: Body) => T,
  dropped: readonly string[] = none,
): T {
  let again: { readonly bytes: Uint8Array; readonly dropped: readonly string[] } | null
  rememberStrings(bytes)
  try {
    const body = openBody(bytes, inside, dropped)
    const found = read(body)
    const edits = checkNames(bytes, skipSpace(bytes, 0), inside.names)
    const { unwanted } = body
    if (edits.length > 0) again = { bytes: join(splice(bytes, edits)), dropped }
    else if (unwanted === null) return found
    else {
      const { bytes: rest } = withoutMember(bytes, unwanted) ?? { bytes }
      again = { bytes: rest, dropped: [...dropped, unwanted] }
    }
  } catch (error) {
    if (error instanceof JsonSyntaxError)
      throw invalidRequest(`the request body is not valid JSON: ${error.message}`, null)
    const plain = error instanceof GatewayError ? plainlyNamed(bytes, inside.names) : null
    if (plain === null) throw error
    again = { bytes: plain, dropped }
  } finally {
    forgetStrings()
  }
  return readBody(again.bytes, inside, read, again.dropped)
}

/** The body with its names spelled plainly, so that a refused one may prove valid; null where nothing changes. */
function plainlyNamed(bytes: Uint8Array, names: Place): Uint8Array | null {
  if (!bytes.includes(0x5c)) return null
  try {
    const edits = checkNames(bytes, skipSpace(bytes, 0), names)
    return edits.length === 0 ? null : join(splice(bytes, edits))
  } catch (error) {
    if (error instanceof JsonSyntaxError || error instanceof GatewayError) return null
    throw error
  }
}

/** The member `key`, unless it is absent or null. */
export function present(body: Body, key: string): Member | null {
  for (const member of body.members) {
    if (member.key === key) return member.kind === 'null' ? null : member
  }
  return null
}

/** The body with `model` written into it where it names none: an empty name counts as none if `replacesEmpty`. */
export function withModel(
  bytes: Uint8Array,
  inside: Inside,
  { model, replacesEmpty }: { readonly model: string; readonly replacesEmpty: boolean },
): Uint8Array {
  return readBody(bytes, inside, (body) => {
    const named = present(body, 'model')
    const isEmpty = named?.kind === 'string' && named.end - named.start === emptyStringBytes
    if (named !== null && !(replacesEmpty && isEmpty)) return body.bytes
    const unset = body.members.find(({ key }) => key === 'model')
    const text = JSON.stringify(model)
    if (unset !== undefined) return join(splice(body.bytes, [{ ...unset, text }]))
    const comma = body.members.length === 0 ? '' : ','
    const edit = { start: body.end, end: body.end, text: `${comma}"model":${text}` }
    return join(splice(body.bytes, [edit]))
  })
}

export function modelOf(body: Body): { model: string; modelSpan: Span } {
  const member = present(body, 'model')
  if (member === null) throw invalidRequest('model is required', 'model')
  if (member.kind !== 'string') throw invalidRequest('model must be a string', 'model')
  const model = stringOf(body.bytes, member.start, member.end)
  if (model === '') throw invalidRequest('model must not be empty', 'model')
  return { model, modelSpan: { start: member.start, end: member.end } }
}

/** The value of a number member that the rules have already checked. */
export function numberField(body: Body, key: string): number | null {
  const member = present(body, key)
  return member === null ? null : numberOf(body.bytes, member.start, member.end)
}

interface StreamOptions {
  readonly stream: boolean
  readonly wantsUsage: boolean
  readonly streamOptionsSpan: Span | null
}

/** `stream` and `stream_options`; the latter is legal only on a stream. */
export function streamOf(body: Body): StreamOptions {
  const stream = present(body, 'stream')?.kind === 'true'
  const options = present(body, 'stream_options')
  if (options === null) return { stream, wantsUsage: false, streamOptionsSpan: null }
  // Accepted beside an explicit `stream: false`, because OpenAI's own clients send both.
  if (!stream && present(body, 'stream') === null) {
    throw invalidRequest('stream_options is only allowed when stream is true', 'stream_options')
  }
  const inner = members(body.bytes, options.start)
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
