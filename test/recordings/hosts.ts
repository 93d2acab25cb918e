// Recorded replies of Cohere and of Bedrock, and simple readers that share no code with the tested readers.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject, JsonValue } from '../../src/wire/ir.ts'
import { eventStream } from '../support/event-stream.ts'
import { recordingsFolder } from './found.ts'

export type HostDialect = 'cohere-v2' | 'bedrock-converse'

export interface HostReply {
  readonly name: string
  readonly dialect: HostDialect
  readonly streamed: boolean
  /** The JSON of each frame, or of the whole body. */
  readonly frames: readonly string[]
}

export interface Plain {
  text: string
  reasoning: string
  signatures: string[]
  calls: { id: string; name: string; input: unknown }[]
  finish: string
  input: number
  cached: number
  output: number
}

const folders: readonly (readonly [folder: string, dialect: HostDialect])[] = [
  ['cohere', 'cohere-v2'],
  ['amazon-bedrock', 'bedrock-converse'],
]

/** Empty if there are no recordings beside the repository; other endpoints' replies are left out. */
export function hostReplies(): HostReply[] {
  const root = recordingsFolder()
  if (root === null) return []
  return folders.flatMap(([folder, dialect]) => {
    const at = join(root, folder)
    if (!existsSync(at)) return []
    return readdirSync(at).flatMap((file): HostReply[] => {
      const text = readFileSync(join(at, file), 'utf8')
      const streamed = file.endsWith('.chunks.txt')
      const frames = streamed ? text.split('\n').filter((line) => line.trim() !== '') : [text]
      const body = JSON.parse(frames[0] ?? '{}')
      if (!streamed && body.message === undefined && body.output === undefined) return []
      return [{ name: `${folder}/${file}`, dialect, streamed, frames }]
    })
  })
}

/** The frames as the vendor's bytes. */
export function hostBytes(dialect: HostDialect, frames: readonly string[]): Uint8Array {
  if (dialect === 'bedrock-converse') return eventStream(frames)
  const text = frames.map((data) => `event: ${JSON.parse(data).type}\ndata: ${data}\n\n`).join('')
  return new TextEncoder().encode(text)
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

function number(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0
}

function inputOf(text: string): unknown {
  return text === '' || text === 'null' ? {} : JSON.parse(text)
}

/** Everything that either vendor puts into a reply, joined in the order of arrival. */
export function plainReply({ dialect, streamed, frames }: HostReply): Plain {
  const plain: Plain = {
    text: '',
    reasoning: '',
    signatures: [],
    calls: [],
    finish: '',
    input: 0,
    cached: 0,
    output: 0,
  }
  const bodies = frames.map((frame) => object(JSON.parse(frame)))
  const [body = {}] = bodies
  if (dialect === 'bedrock-converse') {
    if (streamed) bedrockStream(plain, bodies)
    else {
      for (const block of list(object(object(body['output'])['message'])['content'])) {
        bedrockBlock(plain, block)
      }
      bedrockEnd(plain, body)
    }
  } else if (streamed) cohereStream(plain, bodies)
  else {
    const message = object(body['message'])
    plain.reasoning += string(message['tool_plan'])
    for (const part of list(message['content'])) cohereContent(plain, part)
    for (const call of list(message['tool_calls'])) {
      const { name, arguments: input } = object(call['function'])
      plain.calls.push({
        id: string(call['id']),
        name: string(name),
        input: inputOf(string(input)),
      })
    }
    cohereEnd(plain, body)
  }
  return plain
}

function bedrockBlock(plain: Plain, { text, toolUse, reasoningContent }: JsonObject): void {
  plain.text += string(text)
  const thought = object(object(reasoningContent)['reasoningText'])
  plain.reasoning += string(thought['text'])
  if (thought['signature'] !== undefined) plain.signatures.push(string(thought['signature']))
  if (toolUse === undefined) return
  const { toolUseId, name, input } = object(toolUse)
  plain.calls.push({ id: string(toolUseId), name: string(name), input })
}

function bedrockStream(plain: Plain, frames: readonly JsonObject[]): void {
  const inputs = new Map<number, string>()
  const calls = new Map<number, Plain['calls'][number]>()
  for (const frame of frames) {
    const start = object(frame['contentBlockStart'])
    const { toolUse } = object(start['start'])
    if (toolUse !== undefined) {
      const { toolUseId, name } = object(toolUse)
      const call = { id: string(toolUseId), name: string(name), input: {} as unknown }
      calls.set(number(start['contentBlockIndex']), call)
      plain.calls.push(call)
    }
    const said = object(frame['contentBlockDelta'])
    const at = number(said['contentBlockIndex'])
    const delta = object(said['delta'])
    plain.text += string(delta['text'])
    const thought = object(delta['reasoningContent'])
    plain.reasoning += string(thought['text'])
    if (thought['signature'] !== undefined) plain.signatures.push(string(thought['signature']))
    inputs.set(at, (inputs.get(at) ?? '') + string(object(delta['toolUse'])['input']))
    bedrockEnd(plain, { ...object(frame['messageStop']), ...object(frame['metadata']) })
  }
  for (const [at, call] of calls) call.input = inputOf(inputs.get(at) ?? '')
}

const bedrockWords: Readonly<Record<string, string>> = { end_turn: 'stop', tool_use: 'tool_calls' }

function bedrockEnd(plain: Plain, { stopReason, usage }: JsonObject): void {
  if (stopReason !== undefined) plain.finish = bedrockWords[string(stopReason)] ?? ''
  if (usage === undefined) return
  const { inputTokens, outputTokens, cacheReadInputTokens } = object(usage)
  plain.cached = number(cacheReadInputTokens)
  plain.input = number(inputTokens) + plain.cached
  plain.output = number(outputTokens)
}

function cohereContent(plain: Plain, { thinking, text }: JsonObject): void {
  plain.reasoning += string(thinking)
  plain.text += string(text)
}

const cohereWords: Readonly<Record<string, string>> = {
  COMPLETE: 'stop',
  MAX_TOKENS: 'length',
  TOOL_CALL: 'tool_calls',
}

function cohereStream(plain: Plain, frames: readonly JsonObject[]): void {
  const inputs: string[] = []
  for (const frame of frames) {
    const delta = object(frame['delta'])
    const message = object(delta['message'])
    plain.reasoning += string(message['tool_plan'])
    cohereContent(plain, object(message['content']))
    const call = object(message['tool_calls'])
    const target = object(call['function'])
    if (frame['type'] === 'tool-call-start') {
      plain.calls.push({ id: string(call['id']), name: string(target['name']), input: {} })
      inputs.push('')
    }
    if (inputs.length > 0) inputs[inputs.length - 1] += string(target['arguments'])
    if (frame['type'] === 'message-end') cohereEnd(plain, delta)
  }
  for (const [at, input] of inputs.entries()) {
    const call = plain.calls[at]
    if (call !== undefined) call.input = inputOf(input)
  }
}

function cohereEnd(plain: Plain, { finish_reason: word, usage }: JsonObject): void {
  plain.finish = cohereWords[string(word)] ?? ''
  const { billed_units: billed, tokens, cached_tokens: cached } = object(usage)
  // Cohere's billed count applies if it is reported; the cached tokens are part of the other count.
  const counted = object(billed ?? tokens)
  plain.input = number(counted['input_tokens'])
  plain.output = number(counted['output_tokens'])
  plain.cached = billed === undefined ? number(cached) : 0
}
