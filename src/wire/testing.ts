// Test helpers for wire formats: bytes from texts, and a stream relayed as the identity path does it.

import { dialects } from './dialects.ts'
import { frameKind, type ReplyQuirks, type Watcher } from './reply.ts'
import { FrameSplitter, frameTooLong } from './sse.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export function bytesOf(text: string): Uint8Array {
  return encoder.encode(text)
}

export function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

/** One frame with `value` as its data: JSON, or the text itself where it is a string. */
export function frame(value: unknown): string {
  return `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`
}

/** A chunk of a chat stream with these members. */
export function chunk(members: object): object {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' }
  return { ...head, ...members }
}

/** A chunk with one choice, with its role, as some vendors send it in every chunk. */
export function delta(
  said: object,
  finish_reason: string | null = null,
  members: object = {},
): object {
  const delta = { role: 'assistant', ...said }
  return chunk({ choices: [{ index: 0, delta, finish_reason }], ...members })
}

/** What the client received of a stream, and what the watcher made of it. */
interface Relayed {
  readonly text: string
  readonly kinds: readonly number[]
  readonly semantics: readonly boolean[]
  readonly watcher: Watcher
}

/** Relays a stream that arrives in `pieces`. */
export function relay(
  pieces: readonly Uint8Array[],
  wantsUsage = false,
  quirks: ReplyQuirks = {},
): Relayed {
  const watcher = dialects['openai-chat'].identity.watcher({ wantsUsage, quirks })
  const splitter = new FrameSplitter()
  const kinds: number[] = []
  const semantics: boolean[] = []
  const out: Uint8Array[] = []
  const take = (count: number): void => {
    if (count === frameTooLong) throw new Error('the frame is too long')
    for (let at = 0; at < count; at++) {
      const start = splitter.starts[at] ?? 0
      const end = splitter.ends[at] ?? 0
      const kind = watcher.frame(splitter.bytes, start, end)
      kinds.push(kind)
      semantics.push(watcher.semantic)
      const held = kind === frameKind.done ? watcher.held() : null
      if (held !== null) out.push(held)
      if (kind === frameKind.fault || kind === frameKind.empty) continue
      const shown =
        kind === frameKind.usage
          ? watcher.amend(splitter.bytes, start, end)
          : splitter.bytes.subarray(start, end)
      if (shown !== null) out.push(shown)
    }
  }
  for (const piece of pieces) take(splitter.push(piece))
  take(splitter.end())
  return { text: out.map(textOf).join(''), kinds, semantics, watcher }
}

/** Relays frames with these values, followed by the terminator. */
export function relayFrames(
  values: readonly unknown[],
  wantsUsage = false,
  quirks: ReplyQuirks = {},
): Relayed {
  const text = [...values, '[DONE]'].map(frame).join('')
  return relay([bytesOf(text)], wantsUsage, quirks)
}

/** The shortest of three runs, in milliseconds. */
export function shortestMs(run: () => unknown): number {
  const times = [0, 1, 2].map(() => {
    const startedMs = performance.now()
    run()
    return performance.now() - startedMs
  })
  return Math.min(...times)
}

/** What a few passes over a million tokens take on this machine now, in ms: a bound for code that must be linear. */
export function linearMs(): number {
  const million = `[${'50256,'.repeat(1_000_000)}0]`
  return 8 * shortestMs(() => JSON.parse(million))
}
