// Tests what is charged when the ledger's worker dies under a running stream that its lease covers.
import { expect, test } from 'bun:test'
import { BroadcastChannel } from 'node:worker_threads'
import { testDatabaseUrl } from '../contract/databases.ts'
import { crashChannel } from '../support/crashing-worker.ts'
import { finishedRequest } from '../support/finished.ts'
import { eventually, ledgerScene } from '../support/ledger-node.ts'

const engines = [
  { engine: 'sqlite', url: null },
  ...(testDatabaseUrl === null ? [] : [{ engine: 'postgres', url: testDatabaseUrl }]),
]
const workerScript = new URL('../support/crashing-worker.ts', import.meta.url)

test.each(engines)('the stream pays from what it held on $engine', async ({ url }) => {
  const scene = await ledgerScene(url)
  await scene.deposit('acme', 1_000n)
  const node = await scene.start({ workerScript })
  const [streams, later] = [
    await node.hold('acme', 'key_1', 900n),
    await node.hold('acme', 'k', 50n),
  ]
  if ('refused' in streams || 'refused' in later) throw new Error('a hold was refused')
  const finish = (hold: typeof streams, requestId: string, chargeNano: bigint) =>
    node.finishNow(hold, finishedRequest({ requestId, account: 'acme', chargeNano }))
  node.onFenced(() => finish(streams, 'req_stream', 800n))
  const channel = new BroadcastChannel(crashChannel)
  channel.postMessage('now')
  await eventually('the stream was ended', () => node.closed !== null)
  await eventually('another worker opened the node', () => node.ready())
  // Its lease is released by now: it pays from what is free.
  finish(later, 'req_later', 40n)
  await node.drain()
  channel.close()
  const rows = await scene.store.usage.list({ limit: 5 })
  const paid = rows.map(({ requestId, chargeNano, writeoffNano }) => [
    requestId,
    chargeNano,
    writeoffNano,
  ])
  expect(paid.toSorted()).toEqual([
    ['req_later', 40n, 0n],
    ['req_stream', 800n, 0n],
  ])
  expect(await scene.store.journal.wallet('acme')).toMatchObject({
    postedNano: 160n,
    leasedNano: 0n,
  })
  await scene.remove()
})
