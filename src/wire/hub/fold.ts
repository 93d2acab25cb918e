// Folds the events of a reply into the whole reply, independent of any format.

import type {
  ChatEvent,
  Extra,
  FinishReason,
  JsonObject,
  PartHead,
  UrlCitation,
  Usage,
} from '../ir.ts'

export interface FoldedPart {
  readonly head: PartHead
  text: string
  sealed: string | null
  readonly citations: UrlCitation[]
  readonly logprobs: JsonObject[]
  extra: Extra | null
}

export interface FoldedChoice {
  readonly index: number
  /** In ascending order of their part numbers. */
  readonly parts: readonly FoldedPart[]
  /** Null if the reply was cut off before this choice ended. */
  readonly reason: FinishReason | null
  readonly stopText: string | null
  /** Private fields in order of arrival; those of the choice's end come last. */
  readonly extras: readonly Extra[]
}

export interface FoldedReply {
  readonly id: string
  readonly model: string
  readonly createdAt: number
  readonly extras: readonly Extra[]
  /** In ascending order of their indices. */
  readonly choices: readonly FoldedChoice[]
  readonly usage: Usage | null
}

interface OpenChoice {
  readonly index: number
  readonly parts: Map<number, FoldedPart>
  readonly extras: Extra[]
  reason: FinishReason | null
  stopText: string | null
}

/** The whole reply; a fault among the events is ignored here and left to the caller. */
export function fold(events: readonly ChatEvent[]): FoldedReply {
  const choices = new Map<number, OpenChoice>()
  const choiceAt = (index: number): OpenChoice => {
    const known = choices.get(index)
    if (known !== undefined) return known
    const opened: OpenChoice = { index, parts: new Map(), extras: [], reason: null, stopText: null }
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
    const { head } = event
    const part = { head, text: '', sealed: null, citations: [], logprobs: [], extra: null }
    choice.parts.set(event.part, part)
  } else if (event.type === 'extra') choice.extras.push(event.extra)
  else if (event.type === 'choice-end') {
    if (event.extra !== undefined) choice.extras.push(event.extra)
    choice.reason = event.reason
    choice.stopText = event.stopText ?? null
  } else {
    const part = choice.parts.get(event.part)
    if (part !== undefined) foldPart(part, event)
  }
}

type PartEvent = Exclude<ChoiceEvent, { readonly type: 'part-start' | 'extra' | 'choice-end' }>

function foldPart(part: FoldedPart, event: PartEvent): void {
  if (event.type === 'part-delta') part.text += event.text
  else if (event.type === 'citation') part.citations.push(event.citation)
  else if (event.type === 'logprobs') part.logprobs.push(...event.tokens)
  else {
    part.sealed = event.sealed ?? null
    part.extra = event.extra ?? null
  }
}

function closed({ index, parts, reason, stopText, extras }: OpenChoice): FoldedChoice {
  const inOrder = [...parts.entries()].sort(([a], [b]) => a - b)
  return { index, parts: inOrder.map(([, part]) => part), extras, reason, stopText }
}
