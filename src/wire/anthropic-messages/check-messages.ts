// Checks `messages` in Anthropic's format without parsing them into objects, and finds the first image.

import { invalidRequest } from '../../errors.ts'
import { ElementScan, kindAt, MemberScan, spells } from '../json/scan.ts'
import { type AttachmentOffsets, addAttachment } from '../media/offsets.ts'
import { Fields } from '../openai/fields.ts'

const roles = ['user', 'assistant', 'system'] as const

const list = new ElementScan()
const turn = new MemberScan()
const blocks = new ElementScan()
const block = new MemberScan()
const inner = new ElementScan()
const innerBlock = new MemberScan()

/** Whether the string that begins at `at` is `"word"`. */
function isWord(bytes: Uint8Array, at: number, word: string): boolean {
  return (
    bytes[at] === 0x22 &&
    bytes[at + word.length + 1] === 0x22 &&
    spells(bytes, at + 1, at + 1 + word.length, word)
  )
}

const turnFields = new Fields('role', 'content')
const blockFields = new Fields(
  'type',
  'text',
  'source',
  'tool_use_id',
  'content',
  'id',
  'name',
  'input',
  'citations',
)
const TYPE = 0
const TEXT = 1
const SOURCE = 2
const TOOL_USE_ID = 3
const CONTENT = 4
const ID = 5
const NAME = 6
const INPUT = 7
const CITATIONS = 8
const nestedFields = new Fields('type')

/** Results of the last check of messages. */
export const seen: AttachmentOffsets & {
  /** The path of the first image, or null. */
  imageParam: string | null
  /** The path of the first content that version 2026-10-21 no longer has, with an error message, or null. */
  removed: { readonly param: string; readonly message: string } | null
} = { imageParam: null, removed: null, attachments: undefined }

function needs(found: boolean, param: string, what: string): void {
  if (!found) throw invalidRequest(`${param} ${what}`, param)
}

function isString(bytes: Uint8Array, at: number): boolean {
  return at >= 0 && bytes[at] === 0x22
}

function isKind(bytes: Uint8Array, at: number, kind: 'object' | 'array'): boolean {
  return at >= 0 && kindAt(bytes, at) === kind
}

/** Checks the content of a tool result: a string, or blocks. */
function checkNested(bytes: Uint8Array, at: number, param: string): void {
  if (at < 0 || bytes[at] === 0x22) return
  needs(bytes[at] === 0x5b, param, 'must be a string or an array of content blocks')
  inner.open(bytes, at)
  while (inner.next()) {
    const path = `${param}[${inner.count - 1}]`
    needs(isKind(bytes, inner.value, 'object'), path, 'must be an object')
    nestedFields.read(bytes, innerBlock, inner.value)
    const type = nestedFields.value(bytes, 0)
    needs(isString(bytes, type), `${path}.type`, 'must be a string')
    const isImage = isWord(bytes, type, 'image')
    if (isImage) seen.imageParam ??= path
    if (isImage || isWord(bytes, type, 'document')) addAttachment(seen, inner.value)
    inner.resume(nestedFields.end)
  }
}

function removed(param: string, message: string): void {
  seen.removed ??= { param, message: `${param}: ${message}` }
}

function checkBlock(bytes: Uint8Array, at: number, role: string, path: string): void {
  needs(isKind(bytes, at, 'object'), path, 'must be an object')
  blockFields.read(bytes, block, at)
  const value = (index: number): number => blockFields.value(bytes, index)
  const type = value(TYPE)
  const is = (word: string): boolean => isWord(bytes, type, word)
  needs(isString(bytes, type), `${path}.type`, 'must be a string')
  if (is('text')) {
    needs(isString(bytes, value(TEXT)), `${path}.text`, 'must be a string')
    const citations = value(CITATIONS)
    const cites = isKind(bytes, citations, 'array') && !/^\[\s*\]/.test(headOf(bytes, citations))
    if (role === 'user' && cites) removed(`${path}.citations`, 'not allowed on a user text block')
  } else if (is('image') || is('document')) {
    needs(isKind(bytes, value(SOURCE), 'object'), `${path}.source`, 'must be an object')
    addAttachment(seen, at)
    if (is('image')) seen.imageParam ??= path
    else if (role === 'assistant')
      removed(path, 'a document is not allowed in an assistant message')
  } else if (is('web_fetch_tool_result')) addAttachment(seen, at)
  else if (is('tool_use')) {
    needs(isString(bytes, value(ID)), `${path}.id`, 'must be a string')
    needs(isString(bytes, value(NAME)), `${path}.name`, 'must be a string')
    needs(isKind(bytes, value(INPUT), 'object'), `${path}.input`, 'must be an object')
  } else if (is('tool_result')) {
    needs(isString(bytes, value(TOOL_USE_ID)), `${path}.tool_use_id`, 'must be a string')
    checkNested(bytes, value(CONTENT), `${path}.content`)
  }
}

function headOf(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 64))
}

function checkTurn(bytes: Uint8Array, at: number, path: string): void {
  needs(isKind(bytes, at, 'object'), path, 'must be an object')
  turnFields.read(bytes, turn, at)
  const role = turnFields.value(bytes, 0)
  const said = roles.find((word) => isWord(bytes, role, word))
  needs(said !== undefined, `${path}.role`, `must be ${roles.join(' or ')}`)
  const content = turnFields.value(bytes, 1)
  needs(content >= 0, `${path}.content`, 'is required')
  if (bytes[content] === 0x22) return
  needs(
    bytes[content] === 0x5b,
    `${path}.content`,
    'must be a string or an array of content blocks',
  )
  blocks.open(bytes, content)
  while (blocks.next()) {
    checkBlock(bytes, blocks.value, said ?? '', `${path}.content[${blocks.count - 1}]`)
    blocks.resume(blockFields.end)
  }
}

/**
 * Checks the array of messages at `at`; gives the offset after it and leaves the results in `seen`. Throws
 * GatewayError naming the field.
 */
export function checkMessages(bytes: Uint8Array, at: number): number {
  seen.imageParam = null
  seen.removed = null
  seen.attachments = undefined
  list.open(bytes, at)
  while (list.next()) {
    checkTurn(bytes, list.value, `messages[${list.count - 1}]`)
    list.resume(turnFields.end)
  }
  if (list.count === 0) throw invalidRequest('messages must not be empty', 'messages')
  return list.at
}
