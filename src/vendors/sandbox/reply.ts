// What the sandbox is about to answer, as data: steps of text, made only when they are due.

import type { TransportFault } from '../transport.ts'

export interface Reply {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** Status and headers come at once, before the first step; else with it. */
  readonly streamed: boolean
  /** One step is what one paced event sends: a whole body is one step, a stream has one a token. */
  readonly steps: number
  step(index: number): string
  /** How it ends: cleanly, broken, or never. */
  readonly close: 'end' | 'never' | TransportFault
  /** Nothing is said at all, not even a status, before it closes. */
  readonly headless?: boolean
  /** Time between the first and the last event, spent before a whole body, which has but one step. */
  readonly bodyDelayMs?: number
  /** Each step goes out in two pieces. */
  readonly split?: boolean
}

const eventStream = { 'content-type': 'text/event-stream; charset=utf-8' } as const
const json = { 'content-type': 'application/json' } as const

/** A streamed reply that ends cleanly. */
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

/** An error reply in OpenAI's shape. */
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
