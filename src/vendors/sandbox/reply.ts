// A sandbox reply as data: steps of text, each made only when it is due.

import type { TransportFault } from '../transport.ts'

export interface Reply {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Status and headers are sent at once, before the first step; otherwise with it. */
  readonly streamed: boolean
  /** The number of paced events: one for a whole body, one per token for a stream. */
  readonly steps: number
  step(index: number): string
  /** How it ends: regularly, with a fault, or never. */
  readonly close: 'end' | 'never' | TransportFault
  /** Nothing is sent before it closes, not even a status. */
  readonly headless?: boolean
  /** A delay before a whole body, which has only one step: the time a stream would take from first to last event. */
  readonly bodyDelayMs?: number
  /** Each step is sent in two pieces. */
  readonly split?: boolean
}

const eventStream = { 'content-type': 'text/event-stream; charset=utf-8' } as const
const json = { 'content-type': 'application/json' } as const

/** A stream that ends regularly. */
export function stream(steps: number, step: (index: number) => string): Reply {
  return { status: 200, headers: eventStream, streamed: true, steps, step, close: 'end' }
}

export const done = 'data: [DONE]\n\n'

export function whole(body: object, bodyDelayMs = 0): Reply {
  const text = JSON.stringify(body)
  return {
    status: 200,
    headers: json,
    streamed: false,
    steps: 1,
    step: () => text,
    close: 'end',
    bodyDelayMs,
  }
}

/** An error in OpenAI's form. */
export function refusal(
  status: number,
  error: { message: string; type: string; param: string | null; code: string | null },
  headers: Readonly<Record<string, string>> = {},
): Reply {
  const text = JSON.stringify({ error })
  return {
    status,
    headers: { ...json, ...headers },
    streamed: false,
    steps: 1,
    step: () => text,
    close: 'end',
  }
}
