// Measures the audio of a session's items, for transcripts whose vendor reports no usage.

import type { Added } from '../../wire/openai-realtime/client-event.ts'

/** Items whose transcript may still come. */
const mostItems = 100
/** People usually say 15 characters per second. */
const charactersPerSecond = 15

export class InputAudio {
  /** Appended by the client since an item was last made of it. */
  private waitingSeconds = 0
  private readonly speech = new Map<string, { fromMs: number; toMs: number | null }>()
  private readonly items = new Map<string, number>()

  appended({ audioBytes, clears }: Added, bytesPerSecond: number): void {
    if (clears) this.waitingSeconds = 0
    else this.waitingSeconds += audioBytes / bytesPerSecond
  }

  /** The vendor reports that speech begins or ends, where it detects that. */
  detected(item: string, begins: boolean, atMs: number): void {
    const known = this.speech.get(item)
    if (begins) keep(this.speech, item, { fromMs: atMs, toMs: null })
    else if (known !== undefined) known.toMs = atMs
  }

  /** The vendor made an item of the audio: of all that waits, or of the speech in it. */
  committed(item: string): void {
    const { fromMs = 0, toMs = null } = this.speech.get(item) ?? {}
    const speechSeconds = toMs === null ? Number.POSITIVE_INFINITY : (toMs - fromMs) / 1_000
    keep(this.items, item, Math.max(0, Math.min(this.waitingSeconds, speechSeconds)))
    this.speech.delete(item)
    this.waitingSeconds = 0
  }

  /** The length of an item in seconds; where it is unknown, the usual length of its transcript, at least a second. */
  secondsOf(item: string, transcript: string): number {
    return this.items.get(item) || Math.max(1, transcript.length / charactersPerSecond)
  }
}

function keep<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > mostItems && oldest !== undefined) map.delete(oldest)
}
