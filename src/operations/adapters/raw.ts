// A reply that is neither JSON nor events, such as audio or subtitles: its bytes are passed on as they arrive.

import type { ReplySummary } from '../../billing/settlement.ts'
import type { PathListener, ReplyPath } from '../../relay/path.ts'
import type { RelayRequest } from '../../relay/request.ts'
import type { JsonObject } from '../../wire/ir.ts'

export class RawReply implements ReplyPath {
  readonly complete = false
  readonly type: string
  summary: ReplySummary = { usage: null, outputBytes: 0, finishReason: null, model: null }
  private readonly request: RelayRequest
  private readonly listener: PathListener
  private passedBytes = 0
  private reported: JsonObject | null = null

  /** `type`: the vendor's `content-type`. */
  constructor(request: RelayRequest, type: string, listener: PathListener) {
    this.request = request
    this.type = typeFor(request, type)
    this.listener = listener
  }

  bytes(chunk: Uint8Array): void {
    this.listener.emit(chunk)
    const isFirst = this.passedBytes === 0
    this.passedBytes += chunk.length
    this.see(false)
    if (isFirst) this.listener.semantic()
  }

  metered(usage: JsonObject): void {
    this.reported = usage
    this.see(false)
  }

  private see(isWhole: boolean): void {
    const { dialect, peek } = this.request
    const passed = { bytes: this.passedBytes, isWhole }
    this.summary = {
      ...this.summary,
      units: null,
      ...dialect.media?.raw(peek, this.reported, passed),
    }
  }

  end(): void {
    if (this.passedBytes === 0) {
      this.listener.failed({ kind: 'unreadable', message: 'the reply is empty' })
      return
    }
    this.see(true)
    this.listener.completed(this.summary)
  }
}

function typeFor({ dialect, peek }: RelayRequest, type: string): string {
  const bare = mediaTypeOf(type)
  const named = dialect.media?.typeOf?.(bare, peek) ?? bare
  return named === bare ? type : named
}

/** The media type in lower case, without parameters. */
export function mediaTypeOf(type: string): string {
  const [bare = ''] = type.split(';', 1)
  return bare.trim().toLowerCase()
}
