// A reply that is neither JSON nor events: sound, subtitles. Its bytes are passed on as they come.

import type { Ask, Sight } from '../ask.ts'
import type { PathListener, ReplyPath } from '../path.ts'

export class RawReply implements ReplyPath {
  readonly complete = false
  readonly type: string
  sight: Sight = { usage: null, outputBytes: 0, finishReason: null, model: null }
  private readonly ask: Ask
  private readonly listener: PathListener
  private begun = false

  constructor(ask: Ask, type: string, listener: PathListener) {
    this.ask = ask
    this.type = type
    this.listener = listener
  }

  bytes(chunk: Uint8Array): void {
    this.listener.emit(chunk)
    if (this.begun) return
    this.begun = true
    this.sight = { ...this.sight, ...this.ask.dialect.raw?.(this.ask.peek) }
    this.listener.semantic()
  }

  end(): void {
    if (this.begun) this.listener.completed(this.sight)
    else this.listener.failed({ kind: 'unreadable', message: 'the reply is empty' })
  }
}
