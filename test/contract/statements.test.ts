// Tests statements of wallets, on both engines: in any order of events, the listed entries add up to the balances, to
// the nano-unit.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { house, walletOf } from '../../src/store/ledger.ts'
import type { Store } from '../../src/store/store.ts'
import { onEachEngine } from './engines.ts'
import { settlement, usageRow } from './store.ts'

const quarterMs = 900_000
const begin = 1_763_700_300_000 - (1_763_700_300_000 % quarterMs)

const happening = fc.record({
  at: fc.integer({ min: begin - 3 * quarterMs, max: begin + 6 * quarterMs }),
  kind: fc.constantFrom('credit', 'debit', 'request'),
  amountNano: fc.bigInt({ min: 1n, max: 10n ** 15n }),
  key: fc.constantFrom('key_1', 'key_2'),
  model: fc.constantFrom('a', 'b'),
})

let number = 0

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, each) => total + each, 0n)

type Happening = typeof happening extends fc.Arbitrary<infer Value> ? Value : never

async function post(store: Store, account: string, amountNano: bigint, at: number) {
  const wallet = walletOf(account)
  const isCredit = amountNano > 0n
  number += 1
  await store.journal.post([
    {
      id: `adjust:${number}-${account}`,
      code: 'adjust',
      debit: isCredit ? house.adjust : wallet,
      credit: isCredit ? wallet : house.adjust,
      amountNano: isCredit ? amountNano : -amountNano,
      actor: 'test',
      reason: 'to test with',
      at,
    },
  ])
}

async function settle(store: Store, account: string, { at, amountNano, key, model }: Happening) {
  number += 1
  const requestId = `req_${number}`
  const row = usageRow({ requestId, account, at, key, modelAsked: model, chargeNano: amountNano })
  await store.settlements.settle([settlement({ row })])
}

onEachEngine('statements', (start) => {
  test('add up, over any cut of the time, and say nothing of other accounts', async () => {
    const { store } = await start()
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { maxLength: 12 }), async (happenings) => {
        const account = `ann-${(number += 1)}`
        for (const each of [account, 'bob']) await store.accounts.ensure(each, 1)
        // More than the page size for all of it.
        await post(store, account, 10n ** 17n, begin - 10 * quarterMs)
        await post(store, 'bob', 7n, begin)
        for (const each of happenings) {
          if (each.kind === 'request') await settle(store, account, each)
          else
            await post(
              store,
              account,
              each.kind === 'credit' ? each.amountNano : -each.amountNano,
              each.at,
            )
        }
        const cuts = [0, begin, begin + quarterMs, begin + 2 * quarterMs, begin + 20 * quarterMs]
        let openingNano = 0n
        for (const [at, since] of cuts.slice(0, -1).entries()) {
          const until = cuts[at + 1] ?? 0
          const read = await store.statements.read({ account, since, until, limit: 100 })
          expect(read?.openingNano).toBe(openingNano)
          const entries = sum((read?.entries ?? []).map(({ effectNano }) => effectNano))
          const charges = sum((read?.charges ?? []).map(({ chargeNano }) => chargeNano))
          expect(read?.closingNano).toBe(openingNano + entries - charges)
          const asked = happenings.filter(
            (each) => each.kind === 'request' && each.at >= since && each.at < until,
          )
          expect(charges).toBe(sum(asked.map(({ amountNano }) => amountNano)))
          const requests = (read?.charges ?? []).map((each) => each.requests)
          expect(requests.reduce((total, each) => total + each, 0)).toBe(asked.length)
          openingNano = read?.closingNano ?? 0n
        }
        expect(openingNano).toBe((await store.journal.wallet(account))?.postedNano ?? 0n)
      }),
      { numRuns: 8 },
    )
  })

  test('there are none of who has no wallet', async () => {
    const { store } = await start()
    const asked = { account: 'nobody', since: 0, until: quarterMs, limit: 1 }
    expect(await store.statements.read(asked)).toBeNull()
  })
})
