// Tests what operators do with records that the ledger refused, on both engines.

import { expect, test } from 'bun:test'
import { type Bench, onEachEngine } from '../../test/contract/engines.ts'
import { usageRow } from '../../test/contract/store.ts'
import { adminOf } from '../../test/support/admin.ts'
import { balanced, fund, imbalance, lessee } from '../../test/support/ledger-scene.ts'
import { encodeRecord } from '../ledger/record.ts'
import type { Store } from '../store/store.ts'
import type { UsageRow } from '../store/usage-row.ts'
import { discardSetAside, listSetAsides, settleSetAside } from './set-aside.ts'

const id = 'req_aside'
const reason = 'the vendor was paid by hand'

/** A record that the ledger refused: it holds 50, out of a lease that has ended since. */
async function refused(store: Store, change: Partial<UsageRow> = {}, raw?: string): Promise<void> {
  await fund(store, 'ann', 100n)
  const ref = await lessee(store, 'n1', 'ann', 60n)
  const row = usageRow({ requestId: id, chargeNano: 50n, priceVersion: 1, ...change })
  const record = encodeRecord('final', ref.epoch, 50n, { row, capNano: null, idempotency: null }, 7)
  const whole = raw ?? JSON.stringify(record)
  const entry = { requestId: id, account: 'ann', heldNano: 50n, raw: whole, reason: 'full', at: 5 }
  await store.settlements.setAside(entry, ref)
  await store.nodes.close(ref)
}

const listed = (store: Store) => listSetAsides(adminOf(store), { limit: 9 })
const settled = (store: Store) => settleSetAside(adminOf(store), { id })
const discarded = (store: Store) => discardSetAside(adminOf(store), { id, reason })
const audited = (store: Store) => store.audit.run(() => () => 50n)
const nothing = { releasedNano: '0', chargeNano: '0', writeoffNano: '0' }

type Start = () => Promise<Bench>

onEachEngine('set-aside records', (start) => {
  onceTests(start)
  refusedTests(start)
})

function onceTests(start: Start): void {
  test('one that is settled after all is charged once, out of what it held', async () => {
    const { store, engine, open } = await start()
    await refused(store)
    const shown = { requestId: id, account: 'ann', heldNano: '50', costNano: '50', reason: 'full' }
    expect((await listed(store)).items).toMatchObject([shown])
    const stores = [store, await open(), await open()]
    const done = await Promise.all(stores.map(settled))
    const once = { changed: true, releasedNano: '50', chargeNano: '50', writeoffNano: '0' }
    expect(
      done.toSorted((one, other) => Number(other.changed) - Number(one.changed)),
    ).toMatchObject([once, { changed: false, ...nothing }, { changed: false, ...nothing }])
    const wallet = { account: 'ann', postedNano: 50n, leasedNano: 0n, heldNano: 0n }
    expect(await store.journal.wallet('ann')).toEqual(wallet)
    expect((await store.usage.list({ limit: 9 })).map(({ requestId }) => requestId)).toEqual([id])
    expect((await listed(store)).items).toEqual([])
    expect(await imbalance(engine)).toEqual({ ...balanced })
    const refusal = { refusal: 'conflict', field: 'id', message: `${id} was settled before` }
    await expect(discarded(store)).rejects.toMatchObject(refusal)
    expect(await audited(store)).toMatchObject({ findings: [], setAside: 0, usageRows: 1 })
  })

  test('one that is discarded is charged nothing, and is known when it comes again', async () => {
    const { store } = await start()
    await refused(store)
    expect(await discarded(store)).toMatchObject({ changed: true, ...nothing, releasedNano: '50' })
    expect(await discarded(store)).toMatchObject({ changed: false, ...nothing })
    await expect(settled(store)).rejects.toMatchObject({ message: `${id} was discarded before` })
    const wallet = { account: 'ann', postedNano: 100n, leasedNano: 0n, heldNano: 0n }
    expect(await store.journal.wallet('ann')).toEqual(wallet)
    const again = (await store.settlements.setAsides(9, 'all'))[0]
    if (again === undefined) throw new Error('the record is gone')
    await store.settlements.setAside({ ...again, heldNano: 50n }, { node: 'n1', epoch: 1 })
    expect(await store.journal.wallet('ann')).toEqual(wallet)
    expect(await audited(store)).toMatchObject({ findings: [], setAside: 0, usageRows: 0 })
  })
}

function refusedTests(start: Start): void {
  test('one that is still refused, or cannot be read, keeps its money until it is discarded', async () => {
    const { store } = await start()
    await refused(store, { output: -1 })
    const message = expect.stringContaining('still refuses')
    await expect(settled(store)).rejects.toMatchObject({ refusal: 'conflict', message })
    expect((await store.journal.wallet('ann'))?.heldNano).toBe(50n)
    expect(await discarded(store)).toMatchObject({ changed: true })
  })

  test.each(['["torn', '[1, 2, 3]', '"[]"'])(
    '%s is no request that could be settled',
    async (raw) => {
      const { store } = await start()
      await refused(store, {}, raw)
      expect((await listed(store)).items).toMatchObject([{ costNano: null, heldNano: '50' }])
      const message = expect.stringContaining('cannot be settled')
      await expect(settled(store)).rejects.toMatchObject({ refusal: 'conflict', message })
      expect((await store.journal.wallet('ann'))?.heldNano).toBe(50n)
      expect(await discarded(store)).toMatchObject({ changed: true })
      expect((await store.journal.wallet('ann'))?.heldNano).toBe(0n)
    },
  )

  test('a cost above what was held comes from free money, and the rest is written off', async () => {
    const { store, engine } = await start()
    await refused(store, { chargeNano: 130n })
    expect(await settled(store)).toMatchObject({
      releasedNano: '50',
      chargeNano: '100',
      writeoffNano: '30',
    })
    expect(await imbalance(engine)).toEqual({ ...balanced })
  })

  test('a request that was never set aside is not found', async () => {
    const { store } = await start()
    const refusal = { refusal: 'not_found', field: 'id' }
    await expect(settled(store)).rejects.toMatchObject(refusal)
    await expect(discarded(store)).rejects.toMatchObject(refusal)
  })
}
