// A ledger node that asks for a hold repeatedly and prints each answer; to be stopped and continued.

import { writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { createLedger } from '../../src/ledger/ledger-node.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { finishedRequest } from '../support/finished.ts'
import type { ChildTask } from './lines.ts'

const task = JSON.parse(process.argv[2] ?? '') as ChildTask
const say = (line: string) => writeSync(1, `${line}\n`)

const node = await createLedger({
  ...task,
  maxHeldPerKeyNano: null,
  maxHeldPerAccountNano: null,
  log: createLog({ level: 'silent' }),
})
await node.opened
let running = await node.hold('acme', 'key_1', 500_000n)
// A busy machine may not grant it in time.
while ('refused' in running) running = await node.hold('acme', 'key_1', 500_000n)
const held = running
node.onFenced(() => {
  say('fenced')
  node.finishNow(held, finishedRequest({ requestId: 'req_running', chargeNano: 400_000n }))
})
say('opened')

/** A longer time than this between two turns of the loop means that the process did not run. */
const stoppedMs = task.settings.fenceMs
let beforeMs = performance.now()
for (;;) {
  await delay(2)
  const nowMs = performance.now()
  if (nowMs - beforeMs > stoppedMs) say('stopped')
  beforeMs = nowMs
  const made = await node.hold('acme', 'key_1', 10n)
  if ('refused' in made) say(`refused ${made.refused}`)
  else {
    say('admitted')
    node.release(made)
  }
}
