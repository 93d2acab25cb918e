// Encodes the messages of a conversation as Converse's: a system prompt, then user and assistant turns in alternation.

import { noText, type Placed, turnsOf } from '../hub/turns.ts'
import type { JsonObject, Message } from '../ir.ts'
import { encodePart, type Place, pointAfter, toolUseId, type Writing } from './content.ts'

export interface Turn {
  readonly role: 'user' | 'assistant'
  /** Results of the calls in the turn before; the format wants them first. */
  readonly results: JsonObject[]
  readonly blocks: JsonObject[]
}

interface Conversation {
  readonly system: JsonObject[]
  readonly turns: readonly Turn[]
}

function blocksOf({ index, message }: Placed, role: Place['role'], writing: Writing): JsonObject[] {
  return message.parts.flatMap((part, at) => {
    const param = `messages[${index}].content[${at}]`
    const blocks = encodePart(part, { param, role }, writing)
    return blocks.length === 0 ? [] : [...blocks, ...pointAfter(part.cache, param, writing)]
  })
}

function isPoint(block: JsonObject): boolean {
  return block['cachePoint'] !== undefined
}

/** A cache mark on the content of a tool's answer moves behind the answer. */
function resultBlocks(placed: Placed, id: string, writing: Writing): JsonObject[] {
  const blocks = blocksOf(placed, 'user', writing)
  const result = {
    toolUseId: toolUseId(id),
    content: blocks.filter((block) => !isPoint(block)),
    ...(placed.message.isError && { status: 'error' }),
  }
  return [{ toolResult: result }, ...blocks.filter(isPoint).slice(-1)]
}

/** Assigns tool results without a call id to the preceding calls, in order. */
class OpenCalls {
  private readonly ids = new Set<string>()

  note(message: Message): void {
    for (const part of message.parts) if (part.type === 'tool-call') this.ids.add(part.id)
  }

  answeredBy({ callId }: Message): string {
    const [first = ''] = callId === undefined ? this.ids : []
    const id = callId ?? first
    this.ids.delete(id)
    return id
  }
}

class Turns {
  readonly list: Turn[] = []

  /** The current turn if it has this role, else a new one. */
  of(role: Turn['role']): Turn {
    const last = this.list.at(-1)
    if (last?.role === role) return last
    const turn: Turn = { role, results: [], blocks: [] }
    this.list.push(turn)
    return turn
  }
}

/**
 * Encodes all messages. Consecutive messages of one side form one turn, with tool results first. Empty messages are
 * left out. Throws GatewayError naming a part that cannot be expressed.
 */
export function encodeConversation(messages: readonly Message[], writing: Writing): Conversation {
  const { system: leading, rest } = turnsOf(messages, writing.dropped)
  const system = leading.flatMap((placed) => blocksOf(placed, 'user', writing))
  const turns = new Turns()
  const calls = new OpenCalls()
  for (const placed of rest) {
    const { message } = placed
    if (message.role === 'tool') {
      const id = calls.answeredBy(message)
      turns.of('user').results.push(...resultBlocks(placed, id, writing))
      continue
    }
    calls.note(message)
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const blocks = blocksOf(placed, role, writing)
    if (blocks.length > 0) turns.of(role).blocks.push(...blocks)
  }
  trimEnd(turns.list)
  addTexts(turns.list)
  if (turns.list[0]?.role !== 'user') {
    // With nothing but a system prompt, the model is to answer that.
    const said = turns.list.length === 0 ? system.splice(0) : []
    const blocks = said.length > 0 ? said : [{ text: noText }]
    turns.list.unshift({ role: 'user', results: [], blocks })
  }
  return { system, turns: turns.list }
}

/** A turn with a document must have a text ("ContentBlock", Bedrock Runtime API reference). */
function addTexts(turns: readonly Turn[]): void {
  for (const { blocks } of turns) {
    const has = (member: string) => blocks.some((block) => block[member] !== undefined)
    if (has('document') && !has('text')) blocks.push({ text: noText })
  }
}

/** A last assistant turn, which the model continues, must not end in white space. */
function trimEnd(turns: readonly Turn[]): void {
  const turn = turns.at(-1)
  const last = turn?.blocks.at(-1)
  if (turn?.role !== 'assistant' || typeof last?.['text'] !== 'string') return
  turn.blocks[turn.blocks.length - 1] = { text: last['text'].trimEnd() }
}

export function writeTurns(turns: readonly Turn[]): JsonObject[] {
  return turns.map(({ role, results, blocks }) => ({ role, content: [...results, ...blocks] }))
}

/**
 * Whether thinking with a budget is possible: a turn with pending calls must begin with its own reasoning (Anthropic,
 * "Extended thinking"). If another vendor made the turn or the client lost it, the request is refused.
 */
export function keepsItsThoughts(turns: readonly Turn[]): boolean {
  const asked = turns.findLastIndex(({ role, results }) => role === 'user' && results.length === 0)
  const first = turns.slice(asked + 1).find(({ role }) => role === 'assistant')
  if (first === undefined || !first.blocks.some((block) => block['toolUse'])) return true
  return first.blocks[0]?.['reasoningContent'] !== undefined
}

/** Names of the tools that the conversation has calls of. */
export function calledTools(turns: readonly Turn[]): string[] {
  const names = turns.flatMap(({ blocks }) =>
    blocks.flatMap(({ toolUse }) =>
      typeof toolUse === 'object' && toolUse !== null && 'name' in toolUse
        ? [String(toolUse.name)]
        : [],
    ),
  )
  return [...new Set(names)]
}
