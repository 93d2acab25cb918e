// A ledger node under load in a separate process, to be killed or stopped: prints what it promised, and writes each
// line before it continues.

import { writeSync } from 'node:fs'
import type { Hold } from '../../src/ledger/ledger.ts'
import { createLedger, type LedgerNode } from '../../src/ledger/ledger-node.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { finishedRequest } from '../support/finished.ts'
import type { ChildTask } from './lines.ts'

const task = JSON.parse(process.argv[2] ?? '') as ChildTask

/** Lines in the pipe can still be read after the process has died. */
function say(word: string, ...values: readonly (string | bigint | number)[]): void {
  writeSync(1, `${[word, ...values].join(' ')}\n`)
}

const node = await createLedger({
  ...task,
  durability: task.durability,
  maxHeldPerKeyNano: null,
  maxHeldPerAccountNano: null,
  log: createLog({ level: 'warn' }),
})
await node.opened
node.onFenced(() => say('fenced'))
say('opened')

let counter = 0
const newId = () => `${task.prefix}-${counter++}`
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
const below = (limit: number) => Math.floor(Math.random() * limit)

/** Its cost depends on its id, so that a reader of the ledger can calculate what it must have cost. */
function costOf(id: string): bigint {
  return 1_000n + (BigInt(Bun.hash.crc32(id)) % 9_000n)
}

async function hold(account: string): Promise<Hold | null> {
  const made = await node.hold(account, 'key_1', 6_000n)
  return 'refused' in made ? null : made
}

/** A whole reply: recorded, then answered. Some cost more than was held. */
async function whole(node: LedgerNode, account: string): Promise<void> {
  const held = await hold(account)
  if (held === null) return
  for (let turns = below(4); turns > 0; turns -= 1) await nextTurn()
  const id = newId()
  const chargeNano = costOf(id)
  const kept = Promise.withResolvers<void>()
  node.finish(held, finishedRequest({ requestId: id, account, chargeNano }), kept.resolve)
  await kept.promise
  say('kept', id, chargeNano)
}

/** A stream that notes its cost while it runs. */
async function stream(node: LedgerNode, account: string): Promise<void> {
  const held = await hold(account)
  if (held === null) return
  const id = newId()
  const chargeNano = costOf(id)
  for (const share of [4n, 2n]) {
    const used = finishedRequest({ requestId: id, account, chargeNano: chargeNano / share })
    node.progress(held, used)
    say('used', id, chargeNano / share)
    await nextTurn()
  }
  node.finishNow(held, finishedRequest({ requestId: id, account, chargeNano, stream: true }))
  say('kept', id, chargeNano)
}

async function client(index: number): Promise<void> {
  for (;;) {
    const account = task.accounts[below(task.accounts.length)] ?? 'acme'
    await (index % 3 === 0 ? stream(node, account) : whole(node, account))
    await nextTurn()
  }
}

await Promise.all(Array.from({ length: task.clients }, (_, index) => client(index)))
