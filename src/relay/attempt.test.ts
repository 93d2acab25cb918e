// Tests a single attempt: an internal error while a reply is read must end the attempt and not leave it waiting.

import { afterAll, afterEach, expect, spyOn, test } from 'bun:test'
import { fileSchema } from '../config/schema.ts'
import type { Fault } from '../errors.ts'
import type { Vendor } from '../vendors/vendor.ts'
import { dialects } from '../wire/dialects.ts'
import { Attempt } from './attempt.ts'
import type { RelayRequest, RelayRooms } from './request.ts'

const reported = spyOn(globalThis, 'reportError').mockImplementation(() => undefined)
afterEach(() => {
  reported.mockClear()
})
afterAll(() => {
  reported.mockRestore()
})

const mistake = new TypeError('a mistake')
const fails = (): never => {
  throw mistake
}
const chat = dialects['openai-chat']

/** A dialect that throws at each call that a reply causes. */
const dialect = {
  ...chat,
  vendor: { ...chat.vendor, fault: fails },
  identity: { ...chat.identity, whole: fails, watcher: fails },
}
const rooms = { dialects: { 'openai-chat': dialect } } as unknown as RelayRooms

/** An attempt at a chat call, and the events that its owner got. `to`: the vendor's format, if it is another. */
function attemptAt(stream: boolean, to?: 'gemini') {
  const faults: Fault[] = []
  let aborted = 0
  let completed = 0
  const attempt = new Attempt(
    {
      rooms: to === undefined ? rooms : ({ dialects } as unknown as RelayRooms),
      request: {
        dialect: to === undefined ? dialect : chat,
        peek: { stream, choices: 1 },
        at: 0,
        requestId: 'r',
        authorization: { options: { showCost: false } },
      } as unknown as RelayRequest,
      candidate: {
        channelId: 'c',
        model: 'm',
        dialect: to ?? 'openai-chat',
        priority: 0,
        weight: 1,
        identity: true,
      },
      channel: {
        id: 'c',
        tag: 't',
        vendor: { id: 'v', quirks: {} } as Vendor,
        timeouts: {},
        secrets: [],
        baseUrl: '',
        reach: fails,
        address: fails,
        destination: fails,
        socket: fails,
      },
      identity: to === undefined,
      timeouts: fileSchema.parse({}).timeouts,
      decoded: null,
      fitted: null,
      dropped: [],
      path: null,
      operation: null,
    },
    {
      completed: () => completed++,
      answered: () => undefined,
      attemptFailed: (fault) => faults.push(fault),
      attemptUnsayable: () => undefined,
      crashed: () => undefined,
    },
    { emit: () => undefined, commit: () => undefined },
    performance.now(),
  )
  attempt.carriedBy({ pause: () => undefined, resume: () => undefined, abort: () => aborted++ })
  return { attempt, faults, aborted: () => aborted, completed: () => completed }
}

const places: readonly [name: string, stream: boolean, status: number][] = [
  ['at the head of a stream', true, 200],
  ['at the end of a reply', false, 200],
  ['at the end of an error', false, 500],
]

for (const [name, stream, status] of places) {
  test(`a mistake ${name} fails the attempt once, lets the vendor go and is reported`, () => {
    const { attempt, faults, aborted } = attemptAt(stream)
    attempt.head(status, () => (stream ? 'text/event-stream' : 'application/json'))
    attempt.bytes(new Uint8Array(1))
    attempt.end()
    expect(faults.map(({ kind }) => kind)).toEqual(['unreadable'])
    expect(aborted()).toBe(1)
    expect(reported.mock.calls).toEqual([[mistake]])
  })
}

test("a vendor that states a finish in every frame has its time to end from the last one's text", () => {
  const { attempt, faults, completed } = attemptAt(true, 'gemini')
  const startMs = performance.now()
  const clock = spyOn(performance, 'now')
  const says = (text: string, atMs: number) => {
    clock.mockReturnValue(startMs + atMs)
    const candidate = { content: { parts: [{ text }] }, finishReason: 'STOP' }
    attempt.bytes(Buffer.from(`data: ${JSON.stringify({ candidates: [candidate] })}\n\n`))
  }
  try {
    attempt.head(200, () => 'text/event-stream')
    says('Good ', 0)
    attempt.tick(startMs)
    says('day', 900)
    attempt.tick(startMs + 1_100)
    expect([completed(), faults]).toEqual([0, []])
    attempt.tick(startMs + 2_000)
    expect([completed(), faults]).toEqual([1, []])
  } finally {
    clock.mockRestore()
  }
})
