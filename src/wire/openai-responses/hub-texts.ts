// The parts of a reply as they come piece by piece, whatever order their events come in.

import type { ChatEvent, JsonObject, PartHead } from '../ir.ts'
import { withExtra } from './hub-fields.ts'

type TextType = 'text' | 'refusal' | 'reasoning'

/** One text. Where another begins before it is over, it goes on in a part of its own. */
export interface Text {
  readonly type: TextType
  /** All that was said of it. */
  said: string
  part: number
  open: boolean
  /** Annotations sent so far, of any kind. */
  cited: number
  /** Those that only this format knows. */
  readonly annotations: JsonObject[]
}

export function newText(type: TextType): Text {
  return { type, said: '', part: -1, open: false, cited: 0, annotations: [] }
}

/** What is missing of `whole` when `said` was sent; nothing where they differ: what was sent stands. */
export function remainder(whole: string, said: string): string {
  return whole.startsWith(said) ? whole.slice(said.length) : ''
}

/** Numbers the parts of the one choice and keeps at most one text open. */
export class Parts {
  private count = 0
  private opened: Text | null = null

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
    out.push({ type: 'part-start', choice: 0, part, head: { type } })
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

  /** A part that is sent at once. */
  whole(head: PartHead, text: string, sealed: string | null, out: ChatEvent[]): void {
    this.closeAll(out)
    const part = this.next()
    out.push({ type: 'part-start', choice: 0, part, head })
    if (text !== '') out.push({ type: 'part-delta', choice: 0, part, text })
    out.push({ type: 'part-end', choice: 0, part, ...(sealed !== null && { sealed }) })
  }
}
