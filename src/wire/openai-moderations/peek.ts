// Validates a moderation request on its bytes: texts, or texts and images in parts, and an optional model.

import { invalidRequest } from '../../errors.ts'
import { ElementScan, type JsonKind, kindAt, MemberScan, textOf } from '../json/scan.ts'
import { type Body, present, withModel } from '../openai/body.ts'
import { type Found, mediaFormat, peekMedia } from '../openai/media.ts'
import { stringOf } from '../openai/rules.ts'
import type { Address, Peek } from '../request.ts'

/** The default of `model` (OpenAI, "Create moderation"). */
const defaultModel = 'omni-moderation-latest'

const format = mediaFormat(new Map(), ['input'])

/** Throws GatewayError `invalid_request_error` naming the field at fault. */
export function peekModerations(bytes: Uint8Array, address: Address = {}): Peek {
  // Vendors, prices and records need a model name.
  const named = withModel(bytes, format.inside, { model: defaultModel, replacesEmpty: false })
  return peekMedia(named, address, format, checkedInput)
}

const complaint =
  'input must be a string, an array of strings, or an array of text and image_url parts'

function checkedInput(body: Body): Found {
  const member = present(body, 'input')
  if (member === null) throw invalidRequest('input is required', 'input')
  const attachments: number[] = []
  if (member.kind === 'array') checkList(body.bytes, member.start, attachments)
  else if (member.kind !== 'string') throw invalidRequest(complaint, 'input')
  // Moderations cannot be streamed.
  return { stream: false, attachments: attachments.length === 0 ? undefined : attachments }
}

/** Collects in `attachments` the offsets of the list's images. */
function checkList(bytes: Uint8Array, at: number, attachments: number[]): void {
  const list = new ElementScan()
  list.open(bytes, at)
  if (!list.next()) throw invalidRequest('input must not be empty', 'input')
  const kind = kindAt(bytes, list.value)
  if (kind !== 'string' && kind !== 'object') throw invalidRequest(complaint, 'input[0]')
  do {
    const param = `input[${list.count - 1}]`
    if (kindAt(bytes, list.value) !== kind) {
      const wanted = kind === 'string' ? 'a string' : 'a part'
      throw invalidRequest(`${param} must be ${wanted}, as the elements before it`, param)
    }
    if (kind === 'object' && checkPart(bytes, list.value, param)) attachments.push(list.value)
  } while (list.next())
}

interface Value {
  readonly start: number
  readonly end: number
  readonly kind: JsonKind
}

/** The member of the object at `at`; null where it has none of that name. */
function memberOf(bytes: Uint8Array, at: number, name: string): Value | null {
  const scan = new MemberScan()
  scan.open(bytes, at)
  let found: Value | null = null
  while (scan.next()) {
    if (scan.is(name)) {
      found = { start: scan.value, end: scan.skip(), kind: kindAt(bytes, scan.value) }
    }
  }
  return found
}

/** Checks one part; true if it is an image. */
function checkPart(bytes: Uint8Array, at: number, param: string): boolean {
  const type = memberOf(bytes, at, 'type')
  const name = type?.kind === 'string' ? stringOf(bytes, type.start, type.end) : null
  if (name === 'text') {
    if (memberOf(bytes, at, 'text')?.kind === 'string') return false
    throw invalidRequest(`${param}.text must be a string`, `${param}.text`)
  }
  if (name !== 'image_url') {
    throw invalidRequest(`${param}.type must be text or image_url`, `${param}.type`)
  }
  const image = memberOf(bytes, at, 'image_url')
  if (image?.kind !== 'object') {
    throw invalidRequest(`${param}.image_url must be an object`, `${param}.image_url`)
  }
  checkAddress(bytes, memberOf(bytes, image.start, 'url'), `${param}.image_url.url`)
  return true
}

const schemeBytes = 8

/** Only the beginning of a URL is read: it may be a data URL of megabytes. */
function checkAddress(bytes: Uint8Array, url: Value | null, param: string): void {
  const start =
    url?.kind === 'string'
      ? textOf(bytes, url.start + 1, Math.min(url.end - 1, url.start + schemeBytes))
      : ''
  if (/^(https?:|data:)/i.test(start)) return
  throw invalidRequest(`${param} must be an http, https or data address`, param)
}
