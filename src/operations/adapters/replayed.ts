// Turns a vendor's whole reply into a stream, or JSON into plain text, for a client that asked for that.

import type { ReplySummary } from '../../billing/settlement.ts'
import type { PathListener, ReplyPath } from '../../relay/path.ts'
import type { Replay } from '../../wire/reply.ts'

export class Replayed implements ReplyPath {
  readonly complete = false
  readonly type?: string
  summary: ReplySummary = { usage: null, outputBytes: 0, finishReason: null, model: null }
  private readonly replay: Replay
  private readonly listener: PathListener

  constructor(replay: Replay, listener: PathListener) {
    this.replay = replay
    if (replay.type !== undefined) this.type = replay.type
    this.listener = listener
  }

  bytes(chunk: Uint8Array): void {
    const frames = this.replay.push(chunk)
    this.summary = this.replay.passed ?? this.summary
    this.say(frames)
  }

  end(): void {
    const { fault, bytes, ...summary } = this.replay.end()
    if (fault !== null) {
      this.listener.failed(fault)
      return
    }
    this.summary = summary
    this.say(bytes)
    this.listener.completed(summary)
  }

  private say(frames: Uint8Array): void {
    if (frames.length === 0) return
    this.listener.emit(frames)
    this.listener.semantic()
  }
}
