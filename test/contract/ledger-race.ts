// One of several processes that use one ledger at once; prints the answers it got, as one line of JSON.

import { openStore } from '../../src/store/open.ts'
import { finished, grantOne, hourMs } from '../support/ledger-scene.ts'
import { seeded } from '../support/seeded.ts'

const [engine = '', address = '', name = '', seed = '1', steps = '100'] = process.argv.slice(2)
const accounts = ['ann', 'bob', 'zoe']
/** So few that the processes settle the same requests all the time. */
const requests = 300

/** The same run for the same seed. */
const next = seeded(Number(seed))
function chance(below: number): number {
  return Math.floor(next() * below)
}

function settlement(index: number) {
  const account = accounts[index % accounts.length] ?? 'ann'
  const charge = { chargeNano: BigInt(index % 17), priceVersion: 1 }
  const row = { requestId: `req_${index}`, account, ...charge }
  return finished(ref, row, { fromLeaseNano: BigInt(chance(17)) })
}

const store = await openStore({
  dataDir: address,
  databaseUrl: engine === 'postgres' ? address : null,
})
let ref = await store.nodes.open(name, hourMs)
let settled = 0
let chargedNano = 0n
let writtenOffNano = 0n

const steppers: (() => Promise<unknown>)[] = [
  () => {
    const account = accounts[chance(3)] ?? 'ann'
    const wantNano = BigInt(chance(200))
    return grantOne(store, { ...ref, account, needNano: BigInt(chance(50)), wantNano })
  },
  () => store.leases.giveBack(ref, accounts[chance(3)] ?? 'ann', BigInt(chance(40))),
  async () => {
    const batch = Array.from({ length: 1 + chance(30) }, () => settlement(chance(requests)))
    const result = await store.settlements.settle(batch)
    settled += result.settled
    chargedNano += result.chargedNano
    writtenOffNano += result.writtenOffNano
  },
  () => store.leases.noteHeld(ref, new Map(accounts.map((each) => [each, BigInt(chance(60))]))),
  () => store.leases.recall(accounts[chance(3)] ?? 'ann', ref),
  () => store.leases.recalled(ref),
  () => store.nodes.sweep(),
  async () => {
    if (chance(5) === 0) ref = await store.nodes.open(name, hourMs)
    else await store.nodes.renew(ref, chance(3) === 0 ? 0 : hourMs)
  },
]

for (let step = 0; step < Number(steps); step += 1) await steppers[chance(steppers.length)]?.()
await store.nodes.close(ref)
await store.close()
console.log(
  JSON.stringify({
    settled,
    chargedNano: String(chargedNano),
    writtenOffNano: String(writtenOffNano),
  }),
)
