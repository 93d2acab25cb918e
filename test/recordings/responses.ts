// Recorded replies in the Responses format, each response separately, and a simple reader of their contents.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { vendors } from '../../src/vendors/registry.ts'
import type { Vendor } from '../../src/vendors/vendor.ts'
import type { JsonObject, JsonValue } from '../../src/wire/ir.ts'
import { recordingsFolder } from './found.ts'

export interface ResponseRecording {
  readonly name: string
  readonly vendor: Vendor
  readonly streamed: boolean
  /** The JSON of each event, or of the whole response. */
  readonly frames: readonly string[]
}

const folders = [
  ['openai', 'openai'],
  ['azure', 'azure-openai'],
  ['xai', 'xai'],
] as const

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    // Cut short in the recording: a reply that no reader can understand.
    return false
  }
}

/** A file may contain several streams, one after the other. */
function streamsIn(text: string): string[][] {
  const streams: string[][] = []
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue
    if (/"type":\s*"response\.created"/.test(line)) streams.push([])
    streams.at(-1)?.push(line)
  }
  return streams
}

function readFile(path: string, name: string, vendor: Vendor): ResponseRecording[] {
  const text = readFileSync(path, 'utf8')
  if (name.endsWith('.json')) {
    if (!isJson(text) || (JSON.parse(text) as JsonObject).object !== 'response') return []
    return [{ name, vendor, streamed: false, frames: [text] }]
  }
  return streamsIn(text)
    .filter((frames) => frames.every(isJson))
    .map((frames, at) => ({ name: `${name} (${at + 1})`, vendor, streamed: true, frames }))
}

export function findResponses(): readonly ResponseRecording[] {
  const root = recordingsFolder()
  if (root === null) return []
  return folders.flatMap(([folder, id]) => {
    const vendor = vendors[id]
    const path = join(root, folder)
    if (vendor === undefined || !existsSync(path)) return []
    return readdirSync(path)
      .filter((file) => /\.(json|chunks\.txt)$/.test(file))
      .flatMap((file) => readFile(join(path, file), `${folder}/${file}`, vendor))
  })
}

/** The recording as the vendor's stream of bytes. */
export function eventBytes(frames: readonly string[], lineEnd = '\n'): Uint8Array {
  const text = frames.map((frame) => {
    const { type } = JSON.parse(frame) as JsonObject
    return `event: ${type}${lineEnd}data: ${frame}${lineEnd}${lineEnd}`
  })
  return new TextEncoder().encode(text.join(''))
}

export interface PlainResponse {
  text: string
  /** The texts of its messages. */
  messages: string[]
  refusal: string
  reasoning: string
  calls: { id: string; name: string; input: string }[]
  /** Addresses that the text cites. */
  cited: string[]
  status: string
  usage: JsonObject | null
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

function readItem(reply: PlainResponse, item: JsonObject): void {
  for (const part of list(item.content)) {
    if (item.type !== 'message') continue
    reply.text += string(part.text)
    reply.refusal += string(part.refusal)
    for (const note of list(part.annotations)) {
      if (note.type === 'url_citation') reply.cited.push(string(note.url))
    }
  }
  if (item.type === 'reasoning') {
    const parts = list(item.summary).length > 0 ? list(item.summary) : list(item.content)
    reply.reasoning += parts.map((part) => string(part.text)).join('\n\n')
  }
  const isCall = item.type === 'function_call' || item.type === 'custom_tool_call'
  // xAI's own searches: xAI makes their ids.
  if (!isCall || string(item.call_id).startsWith('xs_')) return
  const input = string(item.arguments ?? item.input)
  reply.calls.push({ id: string(item.call_id), name: string(item.name), input })
}

/** Reads the items at their ends, which contain everything. */
export function plainResponse(frames: readonly string[]): PlainResponse {
  const reply: PlainResponse = {
    text: '',
    messages: [],
    refusal: '',
    reasoning: '',
    calls: [],
    cited: [],
    status: '',
    usage: null,
  }
  const items = new Map<number, JsonObject>()
  const streamed = new Map<number, string>()
  let last: JsonObject = {}
  for (const text of frames) {
    const frame = object(JSON.parse(text))
    if (frame.type === 'response.output_item.done') {
      items.set(Number(frame.output_index), object(frame.item))
    }
    if (frame.type === 'response.output_text.delta') {
      const at = Number(frame.output_index)
      streamed.set(at, (streamed.get(at) ?? '') + string(frame.delta))
    }
    last = frame.object === 'response' ? frame : object(frame.response)
  }
  const output =
    items.size > 0 ? [...items].sort(([a], [b]) => a - b) : [...list(last.output).entries()]
  for (const [at, item] of output) {
    const before = reply.text
    readItem(reply, item)
    // If the two differ, a client has read the first before it gets the second.
    const said = streamed.get(at) ?? ''
    if (!reply.text.slice(before.length).startsWith(said)) reply.text = before + said
    if (reply.text !== before) reply.messages.push(reply.text.slice(before.length))
  }
  reply.status = string(last.status)
  reply.usage = last.usage == null ? null : object(last.usage)
  return reply
}
