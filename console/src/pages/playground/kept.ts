// The kept messages of a request, from which to continue.

import { get, type Reply, randomId } from '../../api/client.ts'
import { conversationOf, type Part, type Turn } from '../requests/conversation.ts'
import { type Answer, type Message, noSettings, type Settings } from './chat.ts'

/** Why it is not possible to continue. */
export type NotKept = 'not-kept' | 'sealed' | 'withheld' | 'no-chat'

export interface Kept {
  readonly model: string | null
  readonly settings: Settings
  readonly messages: readonly Message[]
  /** Media and files are not copied. */
  readonly leftOut: number
}

/** Throws Problem. */
export async function readKept(id: string, signal: AbortSignal): Promise<Kept | NotKept> {
  // Checked first, since a missing request would be an error in the browser's log.
  const query = { id, limit: 1 }
  const { items } = await get('/api/history', { params: { query } }, signal)
  if (items.length === 0) return 'not-kept'
  const kept = await get('/api/history/{id}', { params: { path: { id } } }, signal)
  return keptOf(kept)
}

function keptOf(kept: Reply<'get', '/api/history/{id}'>): Kept | NotKept {
  if (kept.sealed !== null) return 'sealed'
  if (kept.withheld) return 'withheld'
  if (kept.body === null) return 'not-kept'
  const { request, reply } = kept.body
  const turns = conversationOf(request, reply)
  if (turns === null) return 'no-chat'
  const asked = request as Readonly<Record<string, unknown>>
  const model = typeof asked['model'] === 'string' ? asked['model'] : null
  const parts = turns.flatMap((turn) => turn.parts)
  const system = turns.filter(isSystem).map(textOf).join('\n\n')
  return {
    model,
    settings: { ...noSettings, system, tools: toolsOf(asked['tools']) },
    messages: turns.filter((turn) => !isSystem(turn)).flatMap((turn) => messagesOf(turn, model)),
    leftOut: parts.filter(({ kind }) => kind === 'media').length,
  }
}

const isSystem = ({ role }: Turn) => role === 'system' || role === 'developer'

function toolsOf(tools: unknown): string {
  const isOurs = Array.isArray(tools) && tools.every((tool) => tool?.function?.name !== undefined)
  return isOurs ? JSON.stringify(tools, null, 2) : ''
}

function textOf({ parts }: Turn): string {
  return said(parts, 'text')
}

function said(parts: readonly Part[], kind: 'text' | 'reasoning'): string {
  return parts.flatMap((part) => (part.kind === kind ? [part.text] : [])).join('\n')
}

function messagesOf({ role, parts }: Turn, model: string | null): readonly Message[] {
  const results = parts.flatMap((part) =>
    part.kind === 'result'
      ? [{ kind: 'tool', id: randomId(), callId: part.id, name: '', text: part.text } as const]
      : [],
  )
  if (role === 'assistant') return [answerOf(parts, model)]
  const text = said(parts, 'text')
  const user = { kind: 'user', id: randomId(), text, attachments: [] } as const
  return [...results, ...(text === '' ? [] : [user])]
}

function answerOf(parts: readonly Part[], model: string | null): Answer {
  return {
    kind: 'assistant',
    id: randomId(),
    model: model ?? '',
    text: said(parts, 'text'),
    reasoning: said(parts, 'reasoning'),
    calls: parts.flatMap((part) =>
      part.kind === 'call' ? [{ id: part.id, name: part.name, arguments: part.input }] : [],
    ),
    state: 'done',
    requestId: null,
    failure: null,
  }
}
