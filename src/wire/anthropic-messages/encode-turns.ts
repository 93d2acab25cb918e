// The messages of a conversation as Anthropic's turns: a system prompt, then user and assistant by turns.

import type { JsonObject, Message, RequestPart } from '../ir.ts'
import { encodePart, type Place } from './encode-blocks.ts'
import { ownFields } from './fields.ts'
import { toolId } from './ids.ts'

interface Turn {
  readonly role: 'user' | 'assistant'
  /** Of calls in the turn before: they stand first. */
  readonly results: JsonObject[]
  readonly blocks: JsonObject[]
  extra: JsonObject
}

interface Conversation {
  readonly system: readonly JsonObject[]
  readonly turns: readonly Turn[]
}

/** What stands for a user who said nothing: every conversation begins with one. */
const nothing = '.'

function isSystem({ role }: Message): boolean {
  return role === 'system' || role === 'developer'
}

class Turns {
  readonly list: Turn[] = []

  /** The turn that is under way, or a new one. */
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

/** Results whose call nobody named answer the calls before them in their order. */
class OpenCalls {
  private ids: string[] = []

  note(message: Message): void {
    if (message.role === 'assistant') {
      this.ids = message.parts.flatMap((part) => (part.type === 'tool-call' ? [part.id] : []))
    }
  }

  answeredBy({ callId }: Message): string {
    const id = callId ?? this.ids[0] ?? ''
    this.ids = this.ids.filter((each) => each !== id)
    return toolId(id)
  }
}

function resultBlock(message: Message, id: string, blocks: readonly JsonObject[]): JsonObject {
  const content = [...blocks]
  const last = content.at(-1)
  // A mark on the result's last part is one on the result.
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

/** How many messages the conversation begins with that belong to its system prompt. */
function leading(messages: readonly Message[]): number {
  const first = messages.findIndex((message) => !isSystem(message))
  return first < 0 ? messages.length : first
}

/**
 * Messages of one side in a row are one turn; a system message in the middle is said by the user, in its place, for
 * only some models take it as what it is, and its role goes to `dropped`. What says nothing is left out. Throws GatewayError naming a part that cannot
 * be said.
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
    // With nothing but a system prompt, that is what the model is to answer.
    const said = turns.list.length === 0 ? system.splice(0) : []
    const blocks = said.length > 0 ? said : [{ type: 'text', text: nothing }]
    turns.list.unshift({ role: 'user', results: [], blocks, extra: {} })
  }
  return { system, turns: turns.list }
}

/** An assistant's last words, which the model goes on from, must not end in white space. */
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
 * Whether thinking by a budget may go on: a turn of calls under way must begin with the thought it began with ("Extended
 * thinking", tool use). Where another vendor's model or a client lost it, the vendor refuses the request.
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
