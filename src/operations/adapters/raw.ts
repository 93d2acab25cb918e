// A reply that is neither JSON nor events: sound, subtitles. Its bytes are passed on as they come.

import type { PathListener, ReplyPath } from '../../relay/path.ts'
import type { Ask, Sight } from '../../relay/request.ts'
import type { JsonObject } from '../../wire/ir.ts'

export class RawReply implements ReplyPath {
  readonly complete = false
  readonly type: string
  sight: Sight = { usage: null, outputBytes: 0, finishReason: null, model: null }
  private readonly ask: Ask
  private readonly listener: PathListener
  private begun = false
  private told: JsonObject | null = null

  /** `type` is the vendor's `content-type`. */
  constructor(ask: Ask, type: string, listener: PathListener) {
    this.ask = ask
    this.type = typeFor(ask, type)
    this.listener = listener
  }

  bytes(chunk: Uint8Array): void {
    this.listener.emit(chunk)
    if (this.begun) return
    this.begun = true
    this.see()
    this.listener.semantic()
  }

  metered(usage: JsonObject): void {
    this.told = usage
    this.see()
  }

  private see(): void {
    const { dialect, peek } = this.ask
    this.sight = { ...this.sight, ...dialect.raw?.(peek, this.told) }
  }

  end(): void {
    if (this.begun) this.listener.completed(this.sight)
    else this.listener.failed({ kind: 'unreadable', message: 'the reply is empty' })
  }
}

function typeFor({ dialect, peek }: Ask, type: string): string {
  const bare = mediaTypeOf(type)
  const named = dialect.typeOf?.(bare, peek) ?? bare
  return named === bare ? type : named
}

/** In lower case, without parameters. */
export function mediaTypeOf(type: string): string {
  const [bare = ''] = type.split(';', 1)
  return bare.trim().toLowerCase()
}
