// Writes hub events as frames of `streamGenerateContent?alt=sse`, and folds them into a whole reply.

import type { Writer, WriterHead } from '../codec.ts'
import { type FoldedPart, fold } from '../hub/fold.ts'
import type {
  ChatEvent,
  Extra,
  FinishReason,
  JsonObject,
  PartHead,
  UrlCitation,
  Usage,
} from '../ir.ts'
import { together } from '../json/value.ts'
import { ownFields } from './fields.ts'
import {
  candidateOf,
  citedIn,
  type Ending,
  feedbackOf,
  partOf,
  topOf,
  usageMember,
} from './writer-parts.ts'

interface OpenPart {
  readonly head: PartHead
  /** The text of parts that are written whole, and of texts that may be cited. */
  text: string
  /** Undefined while the part is open. */
  sealed?: string | null
}

interface OpenChoice {
  readonly index: number
  readonly parts: Map<number, OpenPart>
  readonly extras: Extra[]
  readonly logprobs: JsonObject[]
  citations: UrlCitation[]
  citedPart: number
  cited: string
  malformed: boolean
  reason: FinishReason | null
}

type EventOf<Type extends ChatEvent['type']> = Extract<ChatEvent, { readonly type: Type }>

/** Whether the part is streamed; in this format any other part is written whole. */
function flows(head: PartHead): boolean {
  return (
    head.type === 'text' || head.type === 'refusal' || (head.type === 'reasoning' && !head.redacted)
  )
}

export class GeminiWriter implements Writer {
  private readonly head: WriterHead
  private readonly choices = new Map<number, OpenChoice>()
  private start: EventOf<'response-start'> | null = null
  /** The members after `candidates` in every frame, as JSON text. */
  private suffix: string
  /** Private members of the reply for its next frame. */
  private pending: JsonObject = {}
  private usage: Usage | null = null

  constructor(head: WriterHead) {
    this.head = head
    this.suffix = this.suffixOf()
  }

  event(event: ChatEvent): string {
    switch (event.type) {
      case 'response-start':
        this.start = event
        this.suffix = this.suffixOf()
        this.pending = { ...this.pending, ...ownFields(event.extra) }
        return ''
      case 'usage':
        this.usage = event.usage
        return ''
      case 'extra':
        if (event.choice === null) this.pending = { ...this.pending, ...ownFields(event.extra) }
        else this.choiceAt(event.choice).extras.push(event.extra)
        return ''
      case 'part-start':
        this.choiceAt(event.choice).parts.set(event.part, { head: event.head, text: '' })
        return ''
      case 'part-delta':
        return this.partDelta(event)
      case 'part-end':
        return this.partEnd(event)
      case 'citation':
        this.cite(event)
        return ''
      case 'logprobs':
        this.choiceAt(event.choice).logprobs.push(...event.tokens)
        return ''
      case 'choice-end':
        this.choiceEnd(event)
        return ''
      case 'fault':
        // The relay reports faults to the client, as this format's error frames.
        return ''
    }
  }

  /** Finish and usage belong in the last frame; in other formats usage may follow the finish. */
  end(): string {
    const ended = [...this.choices.values()].filter(({ reason }) => reason !== null)
    const usage = usageMember(this.usage)
    const feedback = ended.map(feedbackOf).find((found) => found !== null)
    if (feedback !== undefined) return this.frame({ promptFeedback: feedback, ...usage })
    if (ended.length === 0) return ''
    const candidates = ended.map((choice) => {
      const { cited: text } = choice
      return candidateOf({ ...choice, text }, [])
    })
    return this.frame({ candidates, ...usage })
  }

  private suffixOf(): string {
    return `,${JSON.stringify(topOf(this.start, this.head)).slice(1)}\n\n`
  }

  private frame(members: JsonObject): string {
    const text = JSON.stringify({ ...members, ...this.pending })
    this.pending = {}
    return `data: ${text.slice(0, -1)}${this.suffix}`
  }

  private say(index: number, part: JsonObject): string {
    return this.frame({ candidates: [{ content: { parts: [part], role: 'model' }, index }] })
  }

  private choiceAt(index: number): OpenChoice {
    const known = this.choices.get(index)
    if (known !== undefined) return known
    const opened: OpenChoice = {
      index,
      parts: new Map(),
      extras: [],
      logprobs: [],
      citations: [],
      citedPart: -1,
      cited: '',
      malformed: false,
      reason: null,
    }
    this.choices.set(index, opened)
    return opened
  }

  private partDelta({ choice, part, text }: EventOf<'part-delta'>): string {
    const open = this.choiceAt(choice).parts.get(part)
    if (open === undefined || text === '') return ''
    open.text += text
    if (!flows(open.head)) return ''
    return this.say(choice, open.head.type === 'reasoning' ? { text, thought: true } : { text })
  }

  private partEnd({ choice: index, part, sealed }: EventOf<'part-end'>): string {
    const choice = this.choiceAt(index)
    const open = choice.parts.get(part)
    if (open === undefined) return ''
    if (part === choice.citedPart) choice.cited = open.text
    open.sealed = sealed ?? null
    return flows(open.head) ? this.close(choice, part, open) : this.closeInTurn(choice)
  }

  /** Writes calls in the order in which they began, whichever completes first. */
  private closeInTurn(choice: OpenChoice): string {
    let out = ''
    for (const [part, open] of choice.parts) {
      if (flows(open.head)) continue
      if (open.sealed === undefined) break
      out += this.close(choice, part, open)
    }
    return out
  }

  private close(choice: OpenChoice, part: number, { head, text, sealed }: OpenPart): string {
    choice.parts.delete(part)
    const said = partOf({ head, text: flows(head) ? '' : text, sealed: sealed ?? null })
    if (said !== 'malformed') return said === null ? '' : this.say(choice.index, said)
    choice.malformed = true
    return ''
  }

  private cite({ choice: index, part, citation }: EventOf<'citation'>): void {
    const choice = this.choiceAt(index)
    if (part !== choice.citedPart) choice.citations = []
    choice.citedPart = part
    choice.citations.push(citation)
    choice.cited = choice.parts.get(part)?.text ?? choice.cited
  }

  private choiceEnd({ choice: index, reason, extra }: EventOf<'choice-end'>): void {
    const choice = this.choiceAt(index)
    choice.reason = reason
    if (extra !== undefined) choice.extras.push(extra)
  }
}

/** Usage is left out where none is known: the caller counts tokens then. */
export function writeWhole(events: readonly ChatEvent[], head: WriterHead): JsonObject {
  const reply = fold(events)
  const extras = together(reply.extras.map(ownFields))
  const rest = { ...usageMember(reply.usage), ...topOf(reply, head), ...extras }
  const feedback = reply.choices.map(feedbackOf).find((found) => found !== null)
  if (feedback !== undefined) return { promptFeedback: feedback, ...rest }
  const candidates = reply.choices.map(({ index, parts, reason, extras: own }) => {
    const said = parts.map(partOf)
    const ending: Ending = {
      index,
      reason,
      malformed: said.includes('malformed'),
      extras: own,
      ...citedIn(parts),
      logprobs: parts.flatMap((part: FoldedPart) => part.logprobs),
    }
    return candidateOf(
      ending,
      said.filter((part) => part !== null && part !== 'malformed'),
    )
  })
  return { candidates, ...rest }
}
