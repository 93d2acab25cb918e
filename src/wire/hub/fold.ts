// Folds the events of a reply into the whole reply they tell, still in nobody's spelling.

import type { ChatEvent, Extra, FinishReason, PartHead, Usage } from '../ir.ts'

export interface FoldedPart {
  readonly head: PartHead
  text: string
  extra: Extra | null
}

export interface FoldedChoice {
  readonly index: number
  /** In the order of their part numbers. */
  readonly parts: readonly FoldedPart[]
  /** Null where the reply broke off before this choice ended. */
  readonly reason: FinishReason | null
  /** Private fields in the order they came, those of the choice's end last. */
  readonly extras: readonly Extra[]
}

export interface FoldedReply {
  readonly id: string
  readonly model: string
  readonly createdAt: number
  readonly extras: readonly Extra[]
  /** In the order of their indices. */
  readonly choices: readonly FoldedChoice[]
  readonly usage: Usage | null
}

interface OpenChoice {
  readonly index: number
  readonly parts: Map<number, FoldedPart>
  readonly extras: Extra[]
  reason: FinishReason | null
}

/** The whole reply; a fault among the events is the caller's to judge and is passed over. */
export function fold(events: readonly ChatEvent[]): FoldedReply {
  const choices = new Map<number, OpenChoice>()
  const choiceAt = (index: number): OpenChoice => {
    const known = choices.get(index)
    if (known !== undefined) return known
    const opened: OpenChoice = { index, parts: new Map(), extras: [], reason: null }
    choices.set(index, opened)
    return opened
  }
  const reply = { id: '', model: '', createdAt: 0, usage: null as Usage | null }
  const extras: Extra[] = []
  for (const event of events) {
    if (event.type === 'response-start') {
      reply.id = event.id
      reply.model = event.model
      reply.createdAt = event.createdAt
      if (event.extra !== undefined) extras.push(event.extra)
    } else if (event.type === 'usage') reply.usage = event.usage
    else if (event.type === 'extra' && event.choice === null) extras.push(event.extra)
    else if (event.type !== 'fault') foldChoice(choiceAt(event.choice ?? 0), event)
  }
  const ordered = [...choices.values()].sort((a, b) => a.index - b.index)
  return { ...reply, extras, choices: ordered.map(closed) }
}

type ChoiceEvent = Exclude<ChatEvent, { readonly type: 'response-start' | 'usage' | 'fault' }>

function foldChoice(choice: OpenChoice, event: ChoiceEvent): void {
  if (event.type === 'part-start') {
    choice.parts.set(event.part, { head: event.head, text: '', extra: null })
  } else if (event.type === 'part-delta') {
    const part = choice.parts.get(event.part)
    if (part !== undefined) part.text += event.text
  } else if (event.type === 'part-end') {
    const part = choice.parts.get(event.part)
    if (part !== undefined) part.extra = event.extra ?? null
  } else {
    if (event.extra !== undefined) choice.extras.push(event.extra)
    if (event.type === 'choice-end') choice.reason = event.reason
  }
}

function closed({ index, parts, extras, reason }: OpenChoice): FoldedChoice {
  const inOrder = [...parts.entries()].sort(([a], [b]) => a - b)
  return { index, parts: inOrder.map(([, part]) => part), extras, reason }
}
