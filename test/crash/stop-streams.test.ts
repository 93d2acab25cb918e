// Tests streams that are cut when the gateway stops: each client is told so in its own format, and pays for what it
// got.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { formatClients } from '../faults/stream-ends/clients.ts'
import { eventually, pace } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import {
  delta,
  event,
  hang,
  send,
  sseHead,
  startUpstream,
  type Upstream,
} from '../support/upstream.ts'

const words = 'The gateway is restarting.'
const dialects = ['openai-chat', 'openai-completions']

let upstream: Upstream

beforeAll(async () => {
  upstream = await startUpstream()
  const said = [send(sseHead), send(event(delta({ content: 'Hello' })))]
  upstream.on('openai-chat', [...said, hang])
  const piece = { ...delta({}), choices: [{ index: 0, text: 'Hello', finish_reason: null }] }
  upstream.on('openai-completions', [send(sseHead), send(event(piece)), hang])
})
afterAll(() => upstream.close())

interface Begun {
  readonly requestId: string
  /** Everything received, once it has ended. */
  readonly text: Promise<string>
}

/** Resolves with the first bytes. */
async function begin(gateway: Gateway, at: (typeof formatClients)[number]): Promise<Begun> {
  const model = at.dialect === 'openai-completions' ? 'openai-completions' : 'openai-chat'
  const reply = await gateway.post(at.path(model), at.body(model))
  expect(reply.status).toBe(200)
  const reader = reply.body?.getReader()
  const decoder = new TextDecoder()
  const piece = async (): Promise<string | null> => {
    const got = await reader?.read()
    return got === undefined || got.done ? null : decoder.decode(got.value, { stream: true })
  }
  const first = (await piece()) ?? ''
  const rest = async (): Promise<string> => {
    let text = first
    for (let next = await piece(); next !== null; next = await piece()) text += next
    return text
  }
  return { requestId: reply.headers.get('x-request-id') ?? '', text: rest() }
}

/** A vendor that continues would keep these streams open for ever. */
async function expectStopReported(
  drainMs: number,
  stop: (gateway: Gateway) => Promise<void>,
): Promise<void> {
  const channels = dialects.map((dialect) => ({
    id: dialect,
    vendor: 'openai',
    dialect,
    baseUrl: upstream.url,
    key: 'sk-upstream-0123456789',
    models: [dialect],
  }))
  const gateway = await startGateway({ config: { server: { drainMs }, channels } })
  try {
    const begun = await Promise.all(formatClients.map((client) => begin(gateway, client)))
    const texts = Promise.all(begun.map(({ text }) => text))
    await stop(gateway)
    for (const [at, text] of (await texts).entries()) {
      const client = formatClients[at]
      expect(text).toContain('Hello')
      expect(client?.errors(text)).toEqual([{ type: client?.types.broken ?? '', message: words }])
      expect(client?.isLast(text)).toBeTrue()
    }
    await eventually(() => (isAlive(gateway.pid) ? undefined : true), 30_000)
    const rows = new Map((await gateway.usage()).map((row) => [row.requestId, row]))
    for (const { requestId } of begun) {
      const row = rows.get(requestId)
      expect(row).toMatchObject({ status: 200, errorCode: 'service_unavailable' })
      expect(row?.output).toBeGreaterThan(0)
      expect(row?.chargeNano).toBeGreaterThan(0n)
    }
    expect(gateway.stderr).not.toContain('internal error')
  } finally {
    await gateway.stop()
  }
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('a drain that is over says in every format that the gateway stops', async () => {
  await expectStopReported(300, async ({ pid }) => {
    process.kill(pid, 'SIGTERM')
  })
}, 60_000)

test('so does a second Ctrl-C, long before the drain is over', async () => {
  await expectStopReported(600_000, async ({ pid }) => {
    // Signals within a second of one that counted are the same press.
    while (isAlive(pid)) {
      process.kill(pid, 'SIGINT')
      await pace(100)
    }
  })
}, 60_000)
