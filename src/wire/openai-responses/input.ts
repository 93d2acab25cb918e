// Checks `input` of a Responses request without parsing it into objects, and finds the first image.

import { invalidRequest } from '../../errors.ts'
import { ElementScan, kindAt, MemberScan, spells, stringEnd } from '../json/scan.ts'
import type { Edit } from '../json/splice.ts'
import { type AttachmentOffsets, addAttachment } from '../media/offsets.ts'
import { Fields } from '../openai/fields.ts'
import type { LeftOut, Span } from '../request.ts'

const itemScan = new ElementScan()
const itemFieldScan = new MemberScan()
const partScan = new ElementScan()
const partFieldScan = new MemberScan()

const item = new Fields('type', 'role', 'content', 'output', 'call_id', 'id', 'encrypted_content')
const TYPE = 0
const ROLE = 1
const CONTENT = 2
const OUTPUT = 3
const CALL_ID = 4
const ID = 5
const ENCRYPTED = 6
const part = new Fields('type', 'text')
const TEXT = 1

const roles = ['user', 'assistant', 'system', 'developer'] as const
const textTypes = ['input_text', 'output_text', 'text'] as const
/** Types of parts, and of tool items, that hold more than text. */
const attached = ['input_file', 'input_audio'] as const
const attachedItems = ['computer_call_output', 'image_generation_call'] as const
/** The most characters of `call_id` that OpenAI takes. */
export const longestCallId = 64
const outputs = ['function_call_output', 'custom_tool_call_output'] as const

function isString(bytes: Uint8Array, at: number): boolean {
  return at >= 0 && bytes[at] === 0x22
}

/** Whether the string that begins at `at` is `"word"`. */
function isWord(bytes: Uint8Array, at: number, word: string): boolean {
  if (!isString(bytes, at)) return false
  return bytes[at + word.length + 1] === 0x22 && spells(bytes, at + 1, at + 1 + word.length, word)
}

/** Checks a list of parts; gives the index of the first image, or -1. */
function checkParts(bytes: Uint8Array, at: number, place: string): number {
  let firstImage = -1
  partScan.open(bytes, at)
  while (partScan.next()) {
    const index = partScan.count - 1
    if (kindAt(bytes, partScan.value) !== 'object') {
      throw invalidRequest(`${place}[${index}] must be an object`, `${place}[${index}]`)
    }
    part.read(bytes, partFieldScan, partScan.value)
    const type = part.value(bytes, TYPE)
    if (!isString(bytes, type)) {
      const param = `${place}[${index}].type`
      throw invalidRequest(`${param} must be a string`, param)
    }
    const isSaid = isString(bytes, part.value(bytes, TEXT))
    if (!isSaid && textTypes.some((word) => isWord(bytes, type, word))) {
      const param = `${place}[${index}].text`
      throw invalidRequest(`${param} must be a string`, param)
    }
    const isImage = isWord(bytes, type, 'input_image')
    if (firstImage < 0 && isImage) firstImage = index
    if (isImage || attached.some((word) => isWord(bytes, type, word))) {
      addAttachment(seen, partScan.value)
    }
    partScan.resume(part.end)
  }
  return firstImage
}

/** Checks a text or a list of parts; gives the path of the first image, or null. */
function checkContent(bytes: Uint8Array, at: number, place: string): string | null {
  if (bytes[at] === 0x22) return null
  if (bytes[at] !== 0x5b) {
    throw invalidRequest(`${place} must be a string or an array of parts`, place)
  }
  const image = checkParts(bytes, at, place)
  return image < 0 ? null : `${place}[${image}]`
}

/** Checks one item; gives the path of its first image, or null. Unknown types are left for the vendor to judge. */
function checkItem(bytes: Uint8Array, at: number, index: number): string | null {
  const place = `input[${index}]`
  if (kindAt(bytes, at) !== 'object') throw invalidRequest(`${place} must be an object`, place)
  item.read(bytes, itemFieldScan, at)
  const type = item.value(bytes, TYPE)
  if (type >= 0 && !isString(bytes, type)) {
    throw invalidRequest(`${place}.type must be a string`, `${place}.type`)
  }
  const role = item.value(bytes, ROLE)
  if (type < 0 && role < 0 && isString(bytes, item.value(bytes, ID))) {
    seen.untyped.push(typeEdit(at, 'item_reference'))
    return null
  }
  // A null would count as an unknown type further on.
  if (type < 0 && (item.at[TYPE] ?? -1) >= 0) seen.untyped.push(typeEdit(at, 'message'))
  if (type < 0 || isWord(bytes, type, 'message')) {
    if (!roles.some((name) => isWord(bytes, role, name))) {
      const param = `${place}.role`
      throw invalidRequest(`${param} must be ${roles.join(', ')}`, param)
    }
    const content = item.value(bytes, CONTENT)
    if (content < 0) throw invalidRequest(`${place}.content is required`, `${place}.content`)
    return checkContent(bytes, content, `${place}.content`)
  }
  const callId = item.value(bytes, CALL_ID)
  if (isString(bytes, callId) && stringEnd(bytes, callId) - callId - 2 > longestCallId)
    seen.hasLongId = true
  if (isWord(bytes, type, 'reasoning') && !isSealed(bytes)) unsealed.push(index)
  if (attachedItems.some((name) => isWord(bytes, type, name))) addAttachment(seen, at)
  if (!outputs.some((name) => isWord(bytes, type, name))) return null
  if (!isString(bytes, callId)) {
    throw invalidRequest(`${place}.call_id must be a string`, `${place}.call_id`)
  }
  const output = item.value(bytes, OUTPUT)
  if (output < 0) throw invalidRequest(`${place}.output is required`, `${place}.output`)
  return checkContent(bytes, output, `${place}.output`)
}

/** Whether the item just read has opaque state. */
function isSealed(bytes: Uint8Array): boolean {
  const encrypted = item.value(bytes, ENCRYPTED)
  return isString(bytes, encrypted) && bytes[encrypted + 1] !== 0x22
}

/** Writes the type of the item just read, which clients may leave out or give as null. */
function typeEdit(at: number, type: string): Edit {
  const given = item.at[TYPE] ?? -1
  const text = JSON.stringify(type)
  if (given < 0) return { start: at + 1, end: at + 1, text: `"type":${text},` }
  return { start: given, end: given + 'null'.length, text }
}

/** Results of the last check. */
export const seen: AttachmentOffsets & {
  /** The path of the first image part, or null. */
  imageParam: string | null
  /** What makes references without a type, and messages with null for it, readable to everybody. */
  untyped: Edit[]
  /** Reasoning without opaque state, as models of other vendors have it; undefined where there is none. */
  thoughts: LeftOut | undefined
  /** Some call has an id that is longer than OpenAI takes. */
  hasLongId: boolean
} = {
  imageParam: null,
  attachments: undefined,
  untyped: [],
  thoughts: undefined,
  hasLongId: false,
}

/** Positions of reasoning without opaque state. */
let unsealed: number[] = []

/** The items at `gone`, each with a comma that joins it to a neighbour. */
function leftOut(items: readonly Span[], gone: readonly number[]): LeftOut {
  const isGone = new Set(gone)
  const lastKept = items.findLastIndex((_, at) => !isGone.has(at))
  const spans = gone.flatMap((at): Span[] => {
    const [own, next] = [items[at], items[at + 1]]
    if (own === undefined || at > lastKept || next === undefined) return []
    return [{ start: own.start, end: next.start }]
  })
  const [first, last] = [items[lastKept + 1], items.at(-1)]
  if (first !== undefined && last !== undefined) {
    spans.push({ start: items[lastKept]?.end ?? first.start, end: last.end })
  }
  return { spans, names: gone.map((at) => `input[${at}]`) }
}

/**
 * Checks the array of items at `at`; gives the offset after it and leaves the results in `seen`. Throws GatewayError
 * naming the field.
 */
export function checkInput(bytes: Uint8Array, at: number): number {
  seen.imageParam = null
  seen.attachments = undefined
  seen.untyped = []
  seen.hasLongId = false
  unsealed = []
  const items: Span[] = []
  itemScan.open(bytes, at)
  while (itemScan.next()) {
    const start = itemScan.value
    const image = checkItem(bytes, start, items.length)
    seen.imageParam ??= image
    itemScan.resume(item.end)
    items.push({ start, end: item.end })
  }
  seen.thoughts = unsealed.length === 0 ? undefined : leftOut(items, unsealed)
  return itemScan.at
}
