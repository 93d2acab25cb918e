// Tests the progress of outboxes: in whatever order records arrive, exactly the missing ones are named.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { AuditFinding } from '../../src/store/ledger.ts'
import { onEachEngine } from './engines.ts'
import { usageRow } from './store.ts'

const none = () => () => 0n

/** `NODE/EPOCH NUMBER` for each record that is reported missing. */
function numbersNamed(findings: readonly AuditFinding[], node: string): string[] {
  return findings
    .filter(({ kind, subject }) => kind === 'outbox' && subject.startsWith(`${node}/`))
    .flatMap(({ subject, message }) => {
      const [first = '', last = first] = message.match(/\d+/g) ?? []
      const count = Number(last) - Number(first) + 1
      return Array.from({ length: count }, (_, index) => `${subject} ${Number(first) + index}`)
    })
}

onEachEngine('what outboxes have had and the ledger has not', (open) => {
  let runs = 0

  const anyBatch = fc.array(fc.tuple(fc.constantFrom(1, 2), fc.integer({ min: 1, max: 12 })), {
    minLength: 1,
    maxLength: 6,
  })

  test('is named by node, epoch and number, in any order of coming, also twice', async () => {
    const { store } = await open()
    await fc.assert(
      fc.asyncProperty(fc.array(anyBatch, { maxLength: 6 }), fc.nat(14), async (batches, end) => {
        runs += 1
        const node = `node-${runs}`
        const come = new Map([1, 2].map((epoch) => [epoch, new Set<number>()]))
        const reached = new Map([[1, 0]])
        for (const batch of batches) {
          const settlements = batch.map(([epoch, number]) => {
            come.get(epoch)?.add(number)
            reached.set(epoch, Math.max(reached.get(epoch) ?? 0, number))
            const row = usageRow({
              requestId: `req_${runs}_${epoch}_${number}`,
              chargeNano: 0n,
              priceVersion: null,
            })
            const place = { node, epoch, number }
            return {
              node,
              epoch: 7,
              place,
              row,
              fromLeaseNano: 0n,
              capNano: null,
              idempotency: null,
            }
          })
          await store.settlements.settle(settlements)
        }
        if (end > 0) {
          await store.outboxes.end({ node, epoch: 1, number: end })
          reached.set(1, Math.max(reached.get(1) ?? 0, end))
        }
        const missing = [...reached].flatMap(([epoch, most]) =>
          Array.from({ length: most }, (_, index) => index + 1)
            .filter((number) => come.get(epoch)?.has(number) !== true)
            .map((number) => `${node}/${epoch} ${number}`),
        )
        const { findings } = await store.audit.run(none)
        const named = numbersNamed(findings, node)
        expect(named.sort()).toEqual(missing.sort())
      }),
      { numRuns: 60 },
    )
  })

  test('a record that is set aside has come', async () => {
    const { store } = await open()
    const aside = { account: 'ann', heldNano: 0n, raw: '[]', reason: 'no number', at: 1 }
    const place = { node: 'n', epoch: 1, number: 1 }
    await store.settlements.setAside({ ...aside, requestId: 'bad' }, { node: 'n', epoch: 1, place })
    expect((await store.audit.run(none)).findings).toEqual([])
  })
})
