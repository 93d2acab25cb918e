// Tests that an idle server sleeps: by the system's count, none of its threads wakes for timers.

import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { eventually } from '../support/clients.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import { isLong, lasts } from '../support/long.ts'
import { run } from '../support/server-process.ts'

/** Threads of the runtime itself: they collect garbage and compile after the start, and then sleep. */
const runtimes = /^(HeapHelper|JITWorker|JSCWarmUp|mi-scavenger|.*ollector|Bun Pool.*)$/

/** How often threads of this process have voluntarily gone to sleep since it started. */
function sleeps(pid: number): number {
  let sum = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const status = readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8')
    if (runtimes.test(/^Name:\s*(.*)$/m.exec(status)?.[1] ?? '')) continue
    sum += Number(/^voluntary_ctxt_switches:\s*(\d+)/m.exec(status)?.[1])
  }
  return sum
}

const windowMs = 2_000
const windows = 8
/** Longer than the five seconds in which a server looks at keys and prices by itself. */
const leastWindows = 4
/**
 * The runtime's own wake-ups after a start, 6 to 28 a second, fall to nearly none within a minute; this test does not
 * wait for that. With timers that never stopped there were 94 to 111.
 */
const most = 40

async function comesToRest(gateway: Gateway): Promise<void> {
  const seen: number[] = []
  // The looks at keys, prices and the loop stop five seconds after the start, or after a request.
  while (
    seen.length < leastWindows ||
    (seen.length < windows && (seen.at(-1) ?? most + 1) > most)
  ) {
    const before = sleeps(gateway.pid)
    await lasts(windowMs)
    seen.push(((sleeps(gateway.pid) - before) * 1_000) / windowMs)
  }
  console.log(`wake-ups a second, in windows of ${windowMs} ms: ${seen.join(', ')}`)
  expect(seen.at(-1)).toBeLessThanOrEqual(most)
}

test('left alone it comes to rest, and knows of a key made meanwhile at its first use', async () => {
  const gateway = await startGateway()
  try {
    if (isLong) await comesToRest(gateway)
    const words = ['key', 'create', '--account', 'default', '--group', 'default', '--name', 'made']
    const made = JSON.parse(await run(gateway.dataDir, ...words, '--json')) as {
      id: string
      secret: string
    }
    const models = (key: string) =>
      fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
    // While active it looks for new keys by itself at intervals.
    if (!isLong) await eventually(async () => (await models(made.secret)).ok || undefined)
    expect((await models(made.secret)).status).toBe(200)
    expect((await models(testKey)).status).toBe(200)
    const body = { model: 'sandbox/chat', messages: [{ role: 'user', content: 'Hello' }] }
    const reply = await gateway.post('/v1/chat/completions', body)
    const row = await gateway.row(reply.headers.get('x-request-id') ?? '')
    expect(row.chargeNano > 0n).toBeTrue()
  } finally {
    await gateway.stop()
  }
}, 60_000)
