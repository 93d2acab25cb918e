// Assembles the parts of a reply from deltas, whatever the order of their events.

import type { ChatEvent, JsonObject, PartHead } from '../ir.ts'
import { withExtra } from './hub-fields.ts'

type TextType = 'text' | 'refusal' | 'reasoning'

/** One text. If another begins before it ends, it continues in a new part. */
export interface Text {
  readonly type: TextType
  /** It begins apart from the text before it: see `PartHead`. */
  readonly apart: boolean
  /** All of its text so far. */
  said: string
  part: number
  open: boolean
  /** Number of annotations sent, of any kind. */
  cited: number
  /** Annotations that only this format knows. */
  readonly annotations: JsonObject[]
}

export function newText(type: TextType, apart = false): Text {
  return { type, apart, said: '', part: -1, open: false, cited: 0, annotations: [] }
}

/** The rest of `whole` after `said`; nothing where they differ, because sent text cannot be changed. */
export function remainder(whole: string, said: string): string {
  return whole.startsWith(said) ? whole.slice(said.length) : ''
}

/** Numbers the parts of the single choice and keeps at most one text open. */
export class Parts {
  private count = 0
  private opened: Text | null = null
  /** A text has begun. */
  private spoken = false

  next(): number {
    return this.count++
  }

  begin(text: Text, out: ChatEvent[]): void {
    if (text.open) return
    if (this.opened !== null) this.close(this.opened, out)
    text.part = this.next()
    text.open = true
    this.opened = text
    const { type, part } = text
    const apart = text.apart && text.said === '' && this.spoken
    this.spoken ||= text.type === 'text'
    const head: PartHead = type === 'text' && apart ? { type, apart } : { type }
    out.push({ type: 'part-start', choice: 0, part, head })
  }

  say(text: Text, piece: string, out: ChatEvent[]): void {
    if (piece === '') return
    this.begin(text, out)
    text.said += piece
    out.push({ type: 'part-delta', choice: 0, part: text.part, text: piece })
  }

  close(text: Text, out: ChatEvent[], sealed: string | null = null): void {
    if (!text.open) return
    text.open = false
    this.opened = null
    const annotations = text.annotations.splice(0)
    out.push({
      type: 'part-end',
      choice: 0,
      part: text.part,
      ...(sealed !== null && { sealed }),
      ...(annotations.length > 0 && withExtra({ annotations })),
    })
  }

  closeAll(out: ChatEvent[]): void {
    if (this.opened !== null) this.close(this.opened, out)
  }

  /** Emits a part that is complete at once. */
  whole(head: PartHead, text: string, sealed: string | null, out: ChatEvent[]): void {
    this.closeAll(out)
    const part = this.next()
    out.push({ type: 'part-start', choice: 0, part, head })
    if (text !== '') out.push({ type: 'part-delta', choice: 0, part, text })
    out.push({ type: 'part-end', choice: 0, part, ...(sealed !== null && { sealed }) })
  }
}
