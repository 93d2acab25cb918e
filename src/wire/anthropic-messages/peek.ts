// Validates a request in Anthropic's Messages format on its bytes and finds what the gateway acts on.

import { GatewayError, invalidRequest } from '../../errors.ts'
import { ElementScan, kindAt, type Member } from '../json/scan.ts'
import { type Body, type Inside, modelOf, numberField, present, readBody } from '../openai/body.ts'
import { boundsOf, type OwnNames, requestPlace } from '../openai/priced.ts'
import {
  boolean,
  checkFields,
  integer,
  number,
  object,
  type Rule,
  string,
  typedObject,
} from '../openai/rules.ts'
import type { Address, Peek } from '../request.ts'
import { checkMessages, seen } from './check-messages.ts'

/** The version that removes the sampling fields and two forms of content. */
const strictVersion = '2026-10-21'

const textOrBlocks: Rule = (_bytes, _start, _end, kind) =>
  kind === 'string' || kind === 'array' ? null : 'must be a string or an array of text blocks'

const strings: Rule = (bytes, start, _end, kind) => {
  const complaint = 'must be an array of strings'
  if (kind !== 'array') return complaint
  const scan = new ElementScan()
  scan.open(bytes, start)
  while (scan.next()) if (kindAt(bytes, scan.value) !== 'string') return complaint
  return null
}

/** Types and ranges from Anthropic's "Create a Message". */
const rules: ReadonlyMap<string, Rule> = new Map([
  ['max_tokens', integer(0)],
  ['stream', boolean],
  ['system', textOrBlocks],
  ['stop_sequences', strings],
  ['temperature', number(0, 1)],
  ['top_p', number(0, 1)],
  ['top_k', integer(0)],
  ['tool_choice', typedObject],
  ['thinking', typedObject],
  ['output_config', object],
  ['metadata', object],
  ['service_tier', string],
])

const messages: Inside = {
  key: 'messages',
  visit: checkMessages,
  names: requestPlace(rules, [
    'messages',
    'tools',
    'cache_control',
    'container',
    'mcp_servers',
    'thread',
  ]),
}
const own: OwnNames = { limits: ['max_tokens'], counts: [] }

function checkTools(bytes: Uint8Array, member: Member): void {
  if (member.kind !== 'array') throw invalidRequest('tools must be an array', 'tools')
  const scan = new ElementScan()
  scan.open(bytes, member.start)
  while (scan.next()) {
    const param = `tools[${scan.count - 1}]`
    if (kindAt(bytes, scan.value) !== 'object') {
      throw invalidRequest(`${param} must be an object`, param)
    }
  }
}

const sampling = ['temperature', 'top_p', 'top_k'] as const

function checkVersion(body: Body): void {
  const named = sampling.find((name) => present(body, name) !== null)
  if (named !== undefined) {
    throw invalidRequest(`${named} is not supported in version ${strictVersion}`, named)
  }
  if (seen.removed !== null) throw invalidRequest(seen.removed.message, seen.removed.param)
}

/**
 * Refuses a conversation stored with the vendor: its size is unknown when the hold is made, and no other channel has
 * it. On this error code Anthropic's clients send the whole conversation instead.
 */
function refuseThread(body: Body): void {
  if (present(body, 'thread') === null) return
  throw new GatewayError(
    'invalid_request_error',
    'thread: conversations are not kept; send all messages, without thread',
    { param: 'thread', shownCode: 'thread_unsupported_request' },
  )
}

function read(body: Body, address: Address = {}): Peek {
  const { bytes, keys } = body
  const { model, modelSpan } = modelOf(body)
  refuseThread(body)
  const list = present(body, 'messages')
  if (list === null) throw invalidRequest('messages is required', 'messages')
  if (list.kind !== 'array') throw invalidRequest('messages must be an array', 'messages')
  checkFields(bytes, body.members, rules)
  const tools = present(body, 'tools')
  if (tools !== null) checkTools(bytes, tools)
  if (numberField(body, 'max_tokens') === null && address.counts !== true) {
    throw invalidRequest('max_tokens is required', 'max_tokens')
  }
  if (address.headers?.['anthropic-version'] === strictVersion) checkVersion(body)
  return {
    body: bytes,
    model,
    modelSpan,
    stream: present(body, 'stream')?.kind === 'true',
    // The format's streams always report usage.
    wantsUsage: true,
    streamOptionsSpan: null,
    bodyEnd: body.end,
    ...boundsOf(body, own),
    dropped: body.dropped,
    imageParam: seen.imageParam,
    attachments: seen.attachments,
    keys,
    encodingFormat: 'float',
    tokenInput: false,
  }
}

/** Without a version header it is 2023-06-01. Throws GatewayError `invalid_request_error` naming the field at fault. */
export function peekMessages(body: Uint8Array, address?: Address): Peek {
  return readBody(body, messages, (found) => read(found, address))
}
