// Puts a blank line between texts of a reply that belong apart, for formats in which a message has a single text.

import type { ChatEvent } from '../ir.ts'

const blankLine = '\n\n'

export class TextsApart {
  /** Choices in which text was said. */
  private readonly spoken = new Set<number>()
  /** The open text of each choice. */
  private readonly texts = new Map<number, Text>()

  event(event: ChatEvent): ChatEvent {
    if (event.type === 'part-start') {
      const { choice, part, head } = event
      if (head.type === 'text') {
        const apart = head.apart === true && this.spoken.has(choice)
        this.texts.set(choice, { part, apart, shift: 0 })
      }
      return event
    }
    if (event.type !== 'part-delta' && event.type !== 'citation') return event
    const text = this.texts.get(event.choice)
    if (text?.part !== event.part) return event
    return event.type === 'part-delta' ? this.said(event, text) : moved(event, text.shift)
  }

  private said(event: DeltaEvent, text: Text): ChatEvent {
    if (event.text === '') return event
    this.spoken.add(event.choice)
    if (!text.apart) return event
    text.apart = false
    text.shift = blankLine.length
    return { ...event, text: blankLine + event.text }
  }
}

type DeltaEvent = Extract<ChatEvent, { readonly type: 'part-delta' }>
type CitationEvent = Extract<ChatEvent, { readonly type: 'citation' }>

interface Text {
  readonly part: number
  /** A blank line goes before its first piece. */
  apart: boolean
  /** By how much its offsets move. */
  shift: number
}

function moved(event: CitationEvent, shift: number): ChatEvent {
  const { start, end } = event.citation
  if (shift === 0) return event
  const citation = {
    ...event.citation,
    ...(start !== undefined && { start: start + shift }),
    ...(end !== undefined && { end: end + shift }),
  }
  return { ...event, citation }
}
