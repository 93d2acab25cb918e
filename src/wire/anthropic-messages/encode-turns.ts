// Encodes the messages of a conversation as Anthropic's: a system prompt, then alternating user and assistant turns.

import { noText } from '../hub/turns.ts'
import type { JsonObject, Message, RequestPart } from '../ir.ts'
import { encodePart, type Place } from './encode-blocks.ts'
import { ownFields } from './fields.ts'
import { toolId } from './ids.ts'

interface Turn {
  readonly role: 'user' | 'assistant'
  /** Results of the calls in the turn before; the format wants them first. */
  readonly results: JsonObject[]
  readonly blocks: JsonObject[]
  extra: JsonObject
}

interface Conversation {
  readonly system: readonly JsonObject[]
  readonly turns: readonly Turn[]
}

function isSystem({ role }: Message): boolean {
  return role === 'system' || role === 'developer'
}

class Turns {
  readonly list: Turn[] = []

  /** The current turn if it has this role, else a new one. */
  of(role: Turn['role']): Turn {
    const last = this.list.at(-1)
    if (last?.role === role) return last
    const turn: Turn = { role, results: [], blocks: [], extra: {} }
    this.list.push(turn)
    return turn
  }

  add(role: Turn['role'], blocks: readonly JsonObject[], extra: JsonObject): void {
    if (blocks.length === 0) return
    const turn = this.of(role)
    turn.blocks.push(...blocks)
    turn.extra = { ...turn.extra, ...extra }
  }
}

function blocksOf(
  parts: readonly RequestPart[],
  index: number,
  role: Place['role'],
  dropped: string[],
): JsonObject[] {
  return parts.flatMap((part, at) =>
    encodePart(part, { param: `messages[${index}].content[${at}]`, role, dropped }),
  )
}

/** Assigns tool results without a call id to the preceding calls, in order. */
class OpenCalls {
  private readonly ids = new Set<string>()

  note(message: Message): void {
    if (message.role !== 'assistant') return
    this.ids.clear()
    for (const part of message.parts) if (part.type === 'tool-call') this.ids.add(part.id)
  }

  answeredBy({ callId }: Message): string {
    const [first = ''] = callId === undefined ? this.ids : []
    const id = callId ?? first
    this.ids.delete(id)
    return toolId(id)
  }
}

function resultBlock(message: Message, id: string, blocks: readonly JsonObject[]): JsonObject {
  const content = [...blocks]
  const last = content.at(-1)
  // A cache mark on the last part of the result becomes one on the result.
  const { cache_control: mark, ...unmarked } = last ?? {}
  if (last !== undefined) content[content.length - 1] = unmarked
  const [only] = content
  const plain = content.length === 1 && only?.type === 'text' && Object.keys(only).length === 2
  return {
    type: 'tool_result',
    tool_use_id: id,
    ...(content.length > 0 && { content: plain ? (only?.text ?? '') : content }),
    ...(message.isError && { is_error: true }),
    ...(mark !== undefined && { cache_control: mark }),
    ...ownFields(message.extra),
  }
}

/** Number of leading messages that form the system prompt. */
function leading(messages: readonly Message[]): number {
  const first = messages.findIndex((message) => !isSystem(message))
  return first < 0 ? messages.length : first
}

/**
 * Encodes all messages. Consecutive messages of one side form one turn. A system message in the middle becomes a
 * user's, because only some models accept it there; its role goes to `dropped`. Empty messages are left out. Throws
 * GatewayError naming a part that cannot be expressed.
 */
export function encodeConversation(messages: readonly Message[], dropped: string[]): Conversation {
  const begins = leading(messages)
  const system: JsonObject[] = []
  const turns = new Turns()
  const calls = new OpenCalls()
  for (const [index, message] of messages.entries()) {
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const blocks = blocksOf(message.parts, index, role, dropped)
    calls.note(message)
    if (index < begins) system.push(...blocks)
    else if (message.role === 'tool') {
      turns.of('user').results.push(resultBlock(message, calls.answeredBy(message), blocks))
    } else {
      if (isSystem(message)) dropped.push(`messages[${index}].role`)
      turns.add(role, blocks, ownFields(message.extra))
    }
  }
  trimEnd(turns.list)
  if (turns.list[0]?.role !== 'user') {
    // With nothing but a system prompt, the model is to answer that.
    const said = turns.list.length === 0 ? system.splice(0) : []
    const blocks = said.length > 0 ? said : [{ type: 'text', text: noText }]
    turns.list.unshift({ role: 'user', results: [], blocks, extra: {} })
  }
  return { system, turns: turns.list }
}

/** A last assistant turn, which the model continues, must not end in white space. */
function trimEnd(turns: Turn[]): void {
  const turn = turns.at(-1)
  const last = turn?.blocks.at(-1)
  if (turn?.role !== 'assistant' || last?.type !== 'text') return
  turn.blocks[turn.blocks.length - 1] = { ...last, text: String(last.text).trimEnd() }
}

export function writeTurns(turns: readonly Turn[]): JsonObject[] {
  return turns.map(({ role, results, blocks, extra }) => ({
    role,
    content: [...results, ...blocks],
    ...extra,
  }))
}

/**
 * Whether thinking with a budget is possible: a turn with pending calls must begin with its own thinking block
 * ("Extended thinking", tool use). If another vendor made the turn or the client lost the block, the vendor refuses
 * the request.
 */
export function keepsItsThoughts(turns: readonly Turn[]): boolean {
  const asked = turns.findLastIndex(({ role, results }) => role === 'user' && results.length === 0)
  const first = turns.slice(asked + 1).find(({ role }) => role === 'assistant')
  if (first === undefined || !first.blocks.some(({ type }) => type === 'tool_use')) return true
  const type = first.blocks[0]?.type
  return type === 'thinking' || type === 'redacted_thinking'
}

/** Names of the tools that the conversation has calls of. */
export function calledTools(turns: readonly Turn[]): string[] {
  const names = turns.flatMap(({ blocks }) =>
    blocks.flatMap((block) => (block.type === 'tool_use' ? [String(block.name)] : [])),
  )
  return [...new Set(names)]
}
