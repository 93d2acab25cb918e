// Inspects a whole embeddings reply without parsing its numbers, and converts vectors to the form the client wants.

import type { JsonObject } from '../ir.ts'
import { ElementScan, JsonSyntaxError, MemberScan, parseSpan, skipSpace } from '../json/scan.ts'
import { type Edit, join, splice } from '../json/splice.ts'
import { errorIn, faultInside } from '../openai/fault.ts'
import { stringOf } from '../openai/rules.ts'
import { correctUsage, faulty, readable, withoutList } from '../openai/whole.ts'
import type { ReplyQuirks, WholeReply } from '../reply.ts'
import type { Peek } from '../request.ts'
import { BadVector, checkPacked, packVector, unpackVector } from './vectors.ts'

interface Seen {
  end: number
  hasData: boolean
  hasError: boolean
  usageAt: number
  model: string | null
  edits: Edit[]
}

/** The text to replace the vector `bytes[start, end)`; null where it already has the right form. */
function reformed(
  bytes: Uint8Array,
  start: number,
  end: number,
  format: Peek['encodingFormat'],
): string | null {
  const packed = bytes[start] === 0x22
  if (!packed && bytes[start] !== 0x5b) throw new BadVector('neither a list nor a text')
  if (packed) {
    const text = stringOf(bytes, start, end)
    if (format === 'float') return JSON.stringify(unpackVector(text))
    checkPacked(text)
    return null
  }
  if (format === 'float') return null
  return `"${packVector(parseSpan(bytes, start, end) as unknown[])}"`
}

function readData(
  bytes: Uint8Array,
  at: number,
  format: Peek['encodingFormat'],
): {
  end: number
  edits: Edit[]
} {
  const list = new ElementScan()
  const item = new MemberScan()
  const edits: Edit[] = []
  list.open(bytes, at)
  while (list.next()) {
    item.open(bytes, list.value)
    let found = false
    while (item.next()) {
      if (!item.is('embedding')) continue
      found = true
      const start = item.value
      const end = item.skip()
      const text = reformed(bytes, start, end, format)
      if (text !== null) edits.push({ start, end, text })
    }
    if (!found) throw new BadVector(`data[${list.count - 1}] has none`)
    list.resume(item.at)
  }
  if (list.count === 0) throw new BadVector('data is empty')
  return { end: list.at, edits }
}

function readTop(bytes: Uint8Array, at: number, format: Peek['encodingFormat']): Seen {
  const seen: Seen = {
    end: at,
    hasData: false,
    hasError: false,
    usageAt: -1,
    model: null,
    edits: [],
  }
  const top = new MemberScan()
  top.open(bytes, at)
  while (top.next()) {
    const { value } = top
    if (top.is('data') && bytes[value] === 0x5b) {
      const data = readData(bytes, value, format)
      seen.hasData = true
      seen.edits = data.edits
      top.resume(data.end)
    } else if (top.is('model') && bytes[value] === 0x22) {
      seen.model = stringOf(bytes, value, top.skip())
    } else if (top.is('usage') && bytes[value] === 0x7b) {
      seen.usageAt = value
    } else if (top.is('error') && bytes[value] !== 0x6e) seen.hasError = true
  }
  seen.end = top.at
  return seen
}

/** Whether the first vector has another form than requested; also true if no vector is in the head. */
export function hasOtherForm(head: Uint8Array, format: Peek['encodingFormat']): boolean {
  const start = /"embedding"\s*:\s*(["[])/.exec(new TextDecoder('latin1').decode(head))?.[1]
  return start !== (format === 'base64' ? '"' : '[')
}

/** Adds `prompt_tokens` where a vendor (Voyage) reports only the total: embeddings have no other tokens. */
function shape(usage: JsonObject): JsonObject {
  const { prompt_tokens, total_tokens } = usage
  if (prompt_tokens !== undefined || typeof total_tokens !== 'number') return usage
  return { prompt_tokens: total_tokens, ...usage }
}

/** Inspects a reply; one with a fault keeps its bytes. */
export function wholeEmbeddings(
  body: Uint8Array,
  format: Peek['encodingFormat'],
  quirks: ReplyQuirks,
): WholeReply {
  return readable(body, (at) => {
    let seen: Seen
    try {
      seen = readTop(body, at, format)
    } catch (error) {
      if (!(error instanceof BadVector)) throw error
      return faulty(body, {
        kind: 'unreadable',
        message: error.message,
      })
    }
    if (skipSpace(body, seen.end) < body.length) {
      throw new JsonSyntaxError(seen.end, 'unexpected bytes after the reply')
    }
    if (seen.hasError) {
      const error = errorIn(parseSpan(body, at, seen.end) as JsonObject)
      if (error !== null) return faulty(body, faultInside(error))
    }
    if (!seen.hasData) return faulty(body, withoutList(body, at, seen.end, 'data'))
    const { end, usageAt } = seen
    const { edit, ...counts } = correctUsage(
      { bytes: body, start: at, end, usageAt },
      shaped(quirks),
      same,
    )
    const edits = edit === null ? seen.edits : [...seen.edits, edit]
    return {
      fault: null,
      bytes: edits.length === 0 ? body : join(splice(body, edits)),
      ...counts,
      outputBytes: 0,
      finishReason: null,
      model: seen.model,
    }
  })
}

const same = (usage: JsonObject): JsonObject => usage

function shaped(quirks: ReplyQuirks): ReplyQuirks {
  return { ...quirks, usage: (usage) => shape(quirks.usage?.(usage) ?? usage) }
}
