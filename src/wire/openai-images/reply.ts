// Reads usage and units of image replies; images are counted, never decoded.

import { unbelieved } from '../hub/counts.ts'
import type { JsonObject, Usage } from '../ir.ts'
import {
  type Element,
  elements,
  JsonSyntaxError,
  type Member,
  members,
  parseSpan,
  skipSpace,
  stringEnd,
  valueEnd,
} from '../json/scan.ts'
import { join, splice } from '../json/splice.ts'
import { isObject } from '../json/value.ts'
import { errorIn, faultInside } from '../openai/fault.ts'
import { stringOf } from '../openai/rules.ts'
import { readUsage } from '../openai/usage.ts'
import { faulty, lastMember, readable, withoutList } from '../openai/whole.ts'
import type { ReplyQuirks, WholeReply } from '../reply.ts'
import type { Peek, RequestedImages, Units } from '../request.ts'
import { isOpen, unitsOf } from './cost.ts'

/** Each image in a reply has one of these. */
export const itemMark = '"b64_json"'

const unknownPicture: RequestedImages = {
  size: null,
  quality: null,
  count: 1,
  partials: 0,
  inputs: 0,
}

/** Units of `count` images: size and quality as requested, else as the reply states them. */
export function unitsSaid(peek: Peek | undefined, said: Said, count: number): Units {
  const asked = peek?.picture ?? unknownPicture
  const size = isOpen(asked.size) ? said.size : asked.size
  const quality = isOpen(asked.quality) ? said.quality : asked.quality
  return unitsOf({ size, quality }, count)
}

interface Said {
  readonly size: string | null
  readonly quality: string | null
}

/** Usage in which all output tokens are image tokens, unless the reply splits them itself. */
export function imageUsage(value: JsonObject, quirks: ReplyQuirks): Usage | null {
  const raw = quirks.usage?.(value) ?? value
  if (isObject(raw['output_tokens_details']) || isObject(raw['completion_tokens_details']))
    return readUsage(raw)
  const tokens = raw['output_tokens'] ?? null
  return readUsage({ ...raw, output_tokens_details: { image_tokens: tokens } })
}

export function readWhole(bytes: Uint8Array, peek: Peek, quirks: ReplyQuirks): WholeReply {
  return readable(bytes, (at) => {
    const found = members(bytes, at)
    const named = (name: string) => found.find(({ key, kind }) => key === name && kind !== 'null')
    if (named('error') !== undefined) {
      const error = errorIn(parseSpan(bytes, at, valueEnd(bytes, at)) as JsonObject)
      if (error !== null) return faulty(bytes, faultInside(error))
    }
    const data = named('data')
    if (data?.kind !== 'array')
      return faulty(bytes, withoutList(bytes, at, valueEnd(bytes, at), 'data'))
    const count = elements(bytes, data.start).filter((each) => holdsImage(bytes, each)).length
    if (count === 0)
      return faulty(bytes, { kind: 'unreadable', message: 'the reply holds no image' })
    const counted = named('usage')
    const usage = counted?.kind === 'object' ? usageAt(bytes, counted, quirks) : null
    const isUnread = counted?.kind === 'object' && usage === null
    return {
      fault: null,
      bytes,
      usage,
      ...(isUnread && unbelieved(null, parseSpan(bytes, counted.start, counted.end) as JsonObject)),
      outputBytes: 0,
      finishReason: null,
      model: null,
      units: unitsSaid(peek, saidBy(bytes, named), count),
    }
  })
}

/** A vendor that made none may list an empty object, or an empty text. */
function holdsImage(bytes: Uint8Array, { start, kind }: Element): boolean {
  if (kind !== 'object') return false
  return members(bytes, start).some(
    ({ key, kind: valueKind, start: from, end }) =>
      (key === 'b64_json' || key === 'url') && valueKind === 'string' && end - from > 2,
  )
}

export function usageAt(bytes: Uint8Array, { start, end }: Member, quirks: ReplyQuirks) {
  return imageUsage(parseSpan(bytes, start, end) as JsonObject, quirks)
}

export function saidBy(bytes: Uint8Array, named: (name: string) => Member | undefined): Said {
  const word = (name: string): string | null => {
    const member = named(name)
    return member?.kind === 'string' ? stringOf(bytes, member.start, member.end) : null
  }
  return { size: word('size'), quality: word('quality') }
}

/** Adds the cost to the usage of a reply, an event or the end of one; usage is searched from the end. */
export function withCost(bytes: Uint8Array, cost: string): Uint8Array {
  const { value } = lastMember(bytes, 'usage', bytes.length)
  if (value < 0 || bytes[value] !== 0x7b) return bytes
  const inside = value + 1
  const comma = bytes[skipSpace(bytes, inside)] === 0x7d ? '' : ','
  const text = `"cost":${JSON.stringify(cost)}${comma}`
  return join(splice(bytes, [{ start: inside, end: inside, text }]))
}

/** `items`: number of images that passed; where they are given by URL it is 0, and the requested number counts. */
export function readTail(
  bytes: Uint8Array,
  quirks: ReplyQuirks,
  peek: Peek | undefined,
  items: number | undefined,
): Omit<WholeReply, 'fault' | 'bytes'> {
  const count = items || (peek?.picture?.count ?? 1)
  const said = { size: tailWord(bytes, 'size'), quality: tailWord(bytes, 'quality') }
  return {
    usage: tailUsage(bytes, quirks),
    outputBytes: 0,
    finishReason: null,
    model: null,
    units: unitsSaid(peek, said, count),
  }
}

/** The last string member `name` in these bytes, which may begin anywhere in a reply. */
export function tailWord(bytes: Uint8Array, name: string): string | null {
  const { value } = lastMember(bytes, name, bytes.length)
  if (value < 0 || bytes[value] !== 0x22) return null
  return stringOf(bytes, value, stringEnd(bytes, value))
}

export function tailUsage(bytes: Uint8Array, quirks: ReplyQuirks): Usage | null {
  const { value } = lastMember(bytes, 'usage', bytes.length)
  if (value < 0 || bytes[value] !== 0x7b) return null
  try {
    const raw = parseSpan(bytes, value, valueEnd(bytes, value))
    return isObject(raw) ? imageUsage(raw, quirks) : null
  } catch (error) {
    if (error instanceof JsonSyntaxError) return null
    throw error
  }
}
