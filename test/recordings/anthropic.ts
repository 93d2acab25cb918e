// Anthropic's recorded replies, one message each, and a simple reader that shares no code with the tested readers.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject, JsonValue } from '../../src/wire/ir.ts'
import { recordingsFolder } from './found.ts'

export interface Message {
  readonly name: string
  /** The JSON of each event, or of the whole message. */
  readonly frames: readonly string[]
}

/** Some files contain the replies to several requests one after the other. */
function messagesOf(name: string, frames: readonly string[]): Message[] {
  const found: Message[] = []
  let under: string[] = []
  for (const frame of frames) {
    under.push(frame)
    if (JSON.parse(frame).type !== 'message_stop') continue
    found.push({ name: found.length === 0 ? name : `${name} #${found.length + 1}`, frames: under })
    under = []
  }
  return found
}

export interface Messages {
  readonly streams: readonly Message[]
  readonly wholes: readonly Message[]
}

/** Empty if there are no recordings beside the repository. */
export function anthropicMessages(): Messages {
  const root = recordingsFolder()
  const folder = root === null ? '' : join(root, 'anthropic')
  if (!existsSync(folder)) return { streams: [], wholes: [] }
  const read = (ending: string) =>
    readdirSync(folder)
      .filter((file) => file.endsWith(ending))
      .map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }))
  return {
    streams: read('.chunks.txt').flatMap(({ file, text }) =>
      messagesOf(
        file,
        text.split('\n').filter((line) => line.trim() !== ''),
      ),
    ),
    wholes: read('.json')
      .filter(({ text }) => JSON.parse(text).type === 'message')
      .map(({ file, text }) => ({ name: file, frames: [text] })),
  }
}

/** The stream as Anthropic sends it. */
export function messageBytes(frames: readonly string[], lineEnd = '\n'): Uint8Array {
  const text = frames
    .map((frame) => `event: ${JSON.parse(frame).type}${lineEnd}data: ${frame}${lineEnd}${lineEnd}`)
    .join('')
  return new TextEncoder().encode(text)
}

export interface Plain {
  text: string
  thinking: string
  signatures: string[]
  calls: { id: string; name: string; input: unknown }[]
  /** Types of the blocks that a client of another format never gets. */
  others: string[]
  urls: string[]
  stop: string | null
  refusal: string
  usage: JsonObject
}

function object(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}

function list(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.map(object) : []
}

function string(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function readBlock(plain: Plain, block: JsonObject): void {
  if (block.type === 'text') {
    plain.text += string(block.text)
    for (const { url } of list(block.citations)) if (typeof url === 'string') plain.urls.push(url)
  } else if (block.type === 'thinking') {
    plain.thinking += string(block.thinking)
    plain.signatures.push(string(block.signature))
  } else if (block.type === 'tool_use') {
    plain.calls.push({ id: string(block.id), name: string(block.name), input: block.input })
  } else plain.others.push(string(block.type))
}

function end(plain: Plain, fields: JsonObject): void {
  if (typeof fields.stop_reason !== 'string') return
  plain.stop = fields.stop_reason
  plain.refusal = string(object(fields.stop_details).explanation)
}

function replay(frames: readonly JsonObject[]): JsonObject[] {
  const blocks = new Map<number, JsonObject & { json?: string }>()
  for (const event of frames) {
    const index = Number(event.index)
    if (event.type === 'content_block_start') {
      blocks.set(index, { ...object(event.content_block) })
      continue
    }
    const block = blocks.get(index)
    if (event.type !== 'content_block_delta' || block === undefined) continue
    const delta = object(event.delta)
    block.text = string(block.text) + string(delta.text)
    block.thinking = string(block.thinking) + string(delta.thinking)
    block.signature = string(delta.signature) || (block.signature ?? '')
    block.json = (block.json ?? '') + string(delta.partial_json)
    if (delta.citation !== undefined) block.citations = [...list(block.citations), delta.citation]
  }
  return [...blocks.values()].map(({ json = '', ...block }) =>
    json === '' ? block : { ...block, input: JSON.parse(json) },
  )
}

/** Reads the events of a stream or, as the only frame, a whole message. */
export function plainMessage(frames: readonly string[]): Plain {
  const plain: Plain = {
    text: '',
    thinking: '',
    signatures: [],
    calls: [],
    others: [],
    urls: [],
    stop: null,
    refusal: '',
    usage: {},
  }
  const events = frames.map((frame) => object(JSON.parse(frame)))
  const [first = {}] = events
  const message = first.type === 'message' ? first : object(first.message)
  for (const block of [...list(message.content), ...replay(events)]) readBlock(plain, block)
  Object.assign(plain.usage, message.usage)
  end(plain, message)
  for (const event of events) {
    if (event.type !== 'message_delta') continue
    for (const [name, value] of Object.entries(object(event.usage))) {
      if (value !== null) plain.usage[name] = value
    }
    end(plain, object(event.delta))
  }
  return plain
}
