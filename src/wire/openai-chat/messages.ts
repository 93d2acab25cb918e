// Checks `messages` of a chat request without parsing them into objects, and finds the first image.

import { invalidRequest } from '../../errors.ts'
import { ElementScan, kindAt, MemberScan, spells, stringEnd } from '../json/scan.ts'
import { type AttachmentOffsets, addAttachment } from '../media/offsets.ts'
import { Fields } from '../openai/fields.ts'
import type { SentBack } from '../request.ts'
import { callMembers, foreignMembers, longestCallId, replyMembers } from './reply-members.ts'

type PartType = 'text' | 'image_url' | 'input_audio' | 'file' | 'video_url' | 'refusal'
interface RoleRule {
  readonly role: string
  readonly parts: readonly PartType[]
}

const textOnly: readonly PartType[] = ['text']
/** OpenAI's own tools answer with text alone; models of other vendors accept images and files too. */
const toolParts: readonly PartType[] = ['text', 'image_url', 'file']
/** `video_url` is not in OpenAI's own format, but several vendors that speak it have it. */
const userParts: readonly PartType[] = ['text', 'image_url', 'input_audio', 'file', 'video_url']
const roles: readonly RoleRule[] = [
  { role: 'user', parts: userParts },
  { role: 'assistant', parts: ['text', 'refusal'] },
  { role: 'system', parts: textOnly },
  { role: 'tool', parts: toolParts },
  { role: 'developer', parts: textOnly },
  { role: 'function', parts: textOnly },
]
const roleNames = 'developer, system, user, assistant, tool or function'

const messageScan = new ElementScan()
const fieldScan = new MemberScan()
const partScan = new ElementScan()
const partFieldScan = new MemberScan()
const innerScan = new MemberScan()

const message = new Fields(
  ...['role', 'content', 'tool_calls', 'tool_call_id'],
  ...replyMembers,
  ...foreignMembers,
)
const ROLE = 0
const CONTENT = 1
const TOOL_CALLS = 2
const TOOL_CALL_ID = 3
const REPLY = 4
const FOREIGN = REPLY + replyMembers.length
const part = new Fields('type', 'text', 'image_url')
const image = new Fields('url')
const call = new Fields(...callMembers)
const callee = new Fields('name', 'arguments')

function isString(bytes: Uint8Array, at: number): boolean {
  return at >= 0 && bytes[at] === 0x22
}

/** Whether the string that begins at `at` is `"word"`. */
function isWord(bytes: Uint8Array, at: number, word: string): boolean {
  return bytes[at + word.length + 1] === 0x22 && spells(bytes, at + 1, at + 1 + word.length, word)
}

function roleOf(bytes: Uint8Array, at: number, index: number): RoleRule {
  const param = `messages[${index}].role`
  if (at < 0) throw invalidRequest(`${param} is required`, param)
  for (const rule of roles) if (bytes[at] === 0x22 && isWord(bytes, at, rule.role)) return rule
  throw invalidRequest(`${param} must be ${roleNames}`, param)
}

/** Checks the URL whose string begins at `at`. */
function checkUrl(bytes: Uint8Array, at: number, param: string): void {
  if (!isString(bytes, at) || bytes[at + 1] === 0x22) {
    throw invalidRequest(`${param} must be a non-empty string`, param)
  }
  let start = ''
  for (let i = at + 1; i < at + 9; i++) start += String.fromCharCode((bytes[i] ?? 0) | 0x20)
  // JSON may spell a solidus `\/`; setting bit 5 makes letters lower-case and keeps `:` and `/` as they are.
  const known = start.startsWith('data:') || /^https?:[/|\\]/.test(start)
  if (!known) throw invalidRequest(`${param} must be an http, https or data: URL`, param)
}

function checkImage(bytes: Uint8Array, at: number, param: string): void {
  if (at < 0 || kindAt(bytes, at) !== 'object') {
    throw invalidRequest(`${param}.image_url must be an object`, `${param}.image_url`)
  }
  image.read(bytes, innerScan, at)
  checkUrl(bytes, image.value(bytes, 0), `${param}.image_url.url`)
}

/** Checks one part; true if it is an image. */
function checkPart(bytes: Uint8Array, at: number, rule: RoleRule, path: () => string): boolean {
  if (kindAt(bytes, at) !== 'object') throw invalidRequest(`${path()} must be an object`, path())
  part.read(bytes, partFieldScan, at)
  const type = part.value(bytes, 0)
  const known = isString(bytes, type) ? rule.parts.find((name) => isWord(bytes, type, name)) : null
  if (!known) {
    const allowed = rule.parts.join(', ')
    throw invalidRequest(
      `${path()}.type must be one of ${allowed} for role ${rule.role}`,
      `${path()}.type`,
    )
  }
  if (known === 'text' && !isString(bytes, part.value(bytes, 1))) {
    throw invalidRequest(`${path()}.text must be a string`, `${path()}.text`)
  }
  if (known !== 'text' && known !== 'refusal') addAttachment(seen, at)
  if (known === 'image_url') checkImage(bytes, part.value(bytes, 2), path())
  return known === 'image_url'
}

/** Checks the parts of one message; gives the index of its first image, or -1. */
function checkParts(bytes: Uint8Array, at: number, rule: RoleRule, index: number): number {
  let firstImage = -1
  const path = (): string => `messages[${index}].content[${partScan.count - 1}]`
  partScan.open(bytes, at)
  while (partScan.next()) {
    const isImage = checkPart(bytes, partScan.value, rule, path)
    if (isImage && firstImage < 0) firstImage = partScan.count - 1
    partScan.resume(part.end)
  }
  return firstImage
}

function checkToolCall(bytes: Uint8Array, at: number, param: string): void {
  if (kindAt(bytes, at) !== 'object') throw invalidRequest(`${param} must be an object`, param)
  call.read(bytes, partFieldScan, at)
  const id = call.value(bytes, 0)
  if (!isString(bytes, id)) {
    throw invalidRequest(`${param}.id must be a string`, `${param}.id`)
  }
  if (call.hasOthers || stringEnd(bytes, id) - id - 2 > longestCallId) seen.sentBack = 'foreign'
  const type = call.value(bytes, 1)
  if (!isString(bytes, type)) {
    throw invalidRequest(`${param}.type must be a string`, `${param}.type`)
  }
  if (!isWord(bytes, type, 'function')) return
  const target = call.value(bytes, 2)
  if (target < 0 || kindAt(bytes, target) !== 'object') {
    throw invalidRequest(`${param}.function must be an object`, `${param}.function`)
  }
  callee.read(bytes, innerScan, target)
  for (const [i, name] of callee.names.entries()) {
    if (isString(bytes, callee.value(bytes, i))) continue
    throw invalidRequest(`${param}.function.${name} must be a string`, `${param}.function.${name}`)
  }
}

function checkToolCalls(bytes: Uint8Array, at: number, index: number): void {
  const param = `messages[${index}].tool_calls`
  if (kindAt(bytes, at) !== 'array') throw invalidRequest(`${param} must be an array`, param)
  partScan.open(bytes, at)
  while (partScan.next()) {
    checkToolCall(bytes, partScan.value, `${param}[${partScan.count - 1}]`)
    partScan.resume(call.end)
  }
}

/** Notes what the answer just read has from the reply that it was. */
function noteReply(): void {
  for (let at = REPLY; at < message.at.length; at++) {
    if ((message.at[at] ?? -1) < 0) continue
    if (at >= FOREIGN) seen.sentBack = 'foreign'
    else seen.sentBack ??= 'reply'
  }
}

/** Checks one message; gives the index of its first image part, or -1. */
function checkMessage(bytes: Uint8Array, at: number, index: number): number {
  if (kindAt(bytes, at) !== 'object') {
    throw invalidRequest(`messages[${index}] must be an object`, `messages[${index}]`)
  }
  message.read(bytes, fieldScan, at)
  const rule = roleOf(bytes, message.value(bytes, ROLE), index)
  if (rule.role === 'assistant') noteReply()
  const content = message.value(bytes, CONTENT)
  let firstImage = -1
  if (content < 0) {
    // Replies may consist of calls or thoughts alone, and clients leave out what is null in them.
    if (rule.role !== 'assistant' && rule.role !== 'function') {
      const param = `messages[${index}].content`
      throw invalidRequest(`${param} is required`, param)
    }
  } else if (bytes[content] === 0x5b) {
    firstImage = checkParts(bytes, content, rule, index)
  } else if (bytes[content] !== 0x22) {
    const param = `messages[${index}].content`
    throw invalidRequest(`${param} must be a string or an array of parts`, param)
  }
  const calls = message.value(bytes, TOOL_CALLS)
  if (calls >= 0) checkToolCalls(bytes, calls, index)
  if (rule.role === 'tool' && !isString(bytes, message.value(bytes, TOOL_CALL_ID))) {
    const param = `messages[${index}].tool_call_id`
    throw invalidRequest(`${param} must be a string`, param)
  }
  return firstImage
}

/** Results of the last check of messages. */
export const seen: AttachmentOffsets & {
  /** The path of the first image part, or null. */
  imageParam: string | null
  sentBack: SentBack | undefined
} = { imageParam: null, attachments: undefined, sentBack: undefined }

/**
 * Checks the array of messages at `at` into `seen`; gives the offset after it. Throws GatewayError naming the field.
 */
export function checkMessages(bytes: Uint8Array, at: number): number {
  seen.imageParam = null
  seen.attachments = undefined
  seen.sentBack = undefined
  messageScan.open(bytes, at)
  while (messageScan.next()) {
    const index = messageScan.count - 1
    const firstImage = checkMessage(bytes, messageScan.value, index)
    if (firstImage >= 0 && seen.imageParam === null) {
      seen.imageParam = `messages[${index}].content[${firstImage}]`
    }
    messageScan.resume(message.end)
  }
  if (messageScan.count === 0) throw invalidRequest('messages must not be empty', 'messages')
  return messageScan.at
}
