// Tests when the sandbox answers: pace, pause, resume, abort, and a thousand streams at once.

import { afterEach, beforeEach, expect, jest, test } from 'bun:test'
import type { Exchange } from '../transport.ts'
import { sandboxService } from './service.ts'

const encoder = new TextEncoder()

interface Watched {
  readonly exchange: Exchange
  /** Milliseconds after the start at which each chunk came. */
  readonly at: number[]
  readonly said: string[]
  headAt: number | null
  readonly ended: Promise<void>
}

function watch(model: string, stream: boolean, onBytes?: (watched: Watched) => void): Watched {
  const { promise, resolve } = Promise.withResolvers<void>()
  const startedAt = performance.now()
  const decoder = new TextDecoder()
  const body = encoder.encode(
    JSON.stringify({ messages: [{ role: 'user', content: 'hi' }], stream }),
  )
  const at: number[] = []
  const said: string[] = []
  const exchange = sandboxService.open(
    { dialect: 'openai-chat', model, body },
    {
      head() {
        watched.headAt = performance.now() - startedAt
      },
      bytes(chunk) {
        at.push(performance.now() - startedAt)
        said.push(decoder.decode(chunk))
        onBytes?.(watched)
      },
      end: resolve,
      fault: () => resolve(),
    },
  )
  const watched: Watched = { exchange, at, said, headAt: null, ended: promise }
  return watched
}

/** Timers run by the test's own clock. */
beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

/** Advances the time by this much, and runs everything that does not wait for a timer. */
async function after(delayMs: number): Promise<void> {
  for (let ms = 0; ms <= delayMs; ms += 1) {
    if (ms > 0) jest.advanceTimersByTime(1)
    await Promise.resolve()
  }
}

test('a stream keeps its pace from its start, the head at once', async () => {
  const watched = watch('sandbox/chat+first=60+gap=20+tokens=5', true)
  await after(0)
  expect(watched.headAt).toBe(0)
  await after(200)
  await watched.ended
  expect(watched.at).toEqual([60, 80, 100, 120, 140])
  expect(watched.said[0]).toContain('"role":"assistant"')
  expect(watched.said.at(-1)).toEndWith('data: [DONE]\n\n')
})

test('a whole reply waits as long as its stream would take, its head with it', async () => {
  const watched = watch('sandbox/chat+first=30+gap=10+tokens=5', false)
  await after(100)
  await watched.ended
  expect([watched.headAt, watched.at]).toEqual([70, [70]])
})

test('an unpaced stream goes out in one piece', async () => {
  const watched = watch('sandbox/chat+tokens=20', true)
  await after(0)
  await watched.ended
  expect(watched.at).toHaveLength(1)
})

test('a paused stream is silent and catches up when resumed', async () => {
  const watched = watch('sandbox/chat+gap=5+tokens=10', true, (self) => {
    if (self.at.length === 3) self.exchange.pause()
  })
  await after(100)
  expect(watched.at).toHaveLength(3)
  watched.exchange.resume()
  await after(100)
  await watched.ended
  expect(watched.said.join('').match(/"content":"[^"]/g)).toHaveLength(10)
})

test('a long unpaced stream stops within one burst of a pause', async () => {
  const watched = watch('sandbox/chat+tokens=20000', true, (self) => self.exchange.pause())
  await after(20)
  expect(watched.said).toHaveLength(1)
  expect(watched.said[0]?.length ?? 0).toBeLessThan(70_000)
  const resumed = setInterval(() => watched.exchange.resume(), 1)
  await after(1_000)
  await watched.ended
  clearInterval(resumed)
  expect(watched.said.join('').match(/"content":"[^"]/g)).toHaveLength(20_000)
})

test('nothing comes after an abort, whenever it comes', async () => {
  const early = watch('sandbox/chat', true)
  early.exchange.abort()
  const middle = watch('sandbox/chat+gap=5+tokens=10', true, (self) => {
    if (self.at.length === 2) self.exchange.abort()
  })
  const paused = watch('sandbox/chat+gap=5+tokens=10', true, (self) => self.exchange.pause())
  await after(20)
  paused.exchange.abort()
  paused.exchange.resume()
  await after(100)
  expect([early.headAt, early.at.length]).toEqual([null, 0])
  expect(middle.at).toHaveLength(2)
  expect(paused.at).toHaveLength(1)
})

test('a hung call says nothing, a stalled one stops half way; both go when aborted', async () => {
  const hung = watch('sandbox/chat+fault=hang', true)
  const stalled = watch('sandbox/chat+fault=stall+after=2+tokens=5', true)
  await after(30)
  expect([hung.headAt, hung.at.length]).toEqual([null, 0])
  expect(stalled.said.join('').match(/"content":"[^"]/g)).toHaveLength(2)
  hung.exchange.abort()
  stalled.exchange.abort()
})

test('an aborted stream leaves no timer that keeps the process alive', async () => {
  jest.useRealTimers()
  const program = `
    import { sandboxService } from ${JSON.stringify(new URL('./service.ts', import.meta.url).pathname)}
    const body = new TextEncoder().encode('{"messages":[{"role":"user","content":"hi"}],"stream":true}')
    const none = () => undefined
    for (let i = 0; i < 1000; i += 1) {
      const exchange = sandboxService.open(
        { dialect: 'openai-chat', model: 'sandbox/chat+first=60000', body },
        { head: none, bytes: none, end: none, fault: none },
      )
      setTimeout(() => exchange.abort(), 5)
    }
  `
  const child = Bun.spawn([process.execPath, '-e', program], { stderr: 'inherit' })
  // The timer of an aborted stream would keep it for a minute, which is longer than a test may take.
  expect(await child.exited).toBe(0)
})

test('a thousand streams of one event a 100 ms lose none and none is late', async () => {
  const streams = Array.from({ length: 1000 }, () =>
    watch('sandbox/chat+first=100+gap=100+tokens=5', true),
  )
  await after(600)
  await Promise.all(streams.map((stream) => stream.ended))
  for (const { at } of streams) expect(at).toEqual([100, 200, 300, 400, 500])
})
