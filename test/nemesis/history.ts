// Checks the books against a history of requests, whatever was done to the nodes meanwhile.

import { expect } from 'bun:test'
import type { UsageRow } from '../../src/store/usage-row.ts'
import { eventually } from '../support/clients.ts'
import type { Deployment, Outcome } from '../support/deployment.ts'

interface Ended extends Outcome {
  readonly account: string
}

/** Waits until every complete reply has its row. */
export async function expectSettled({ store }: Deployment, ended: readonly Ended[]): Promise<void> {
  await eventually(async () => {
    const rows = await store.usage.list({ limit: 1_000_000 })
    const known = new Set(rows.map(({ requestId }) => requestId))
    return ended.every((each) => each.status !== 200 || !each.whole || known.has(each.requestId))
      ? true
      : undefined
  }, 30_000)
}

/**
 * I6, I11: a refused request paid nothing, and no account paid for more requests than were answered or have an unknown
 * end: a reply that was lost on its way may have been complete.
 */
export function expectOnlyAnswered(ended: readonly Ended[], rows: readonly UsageRow[]): void {
  const byId = new Map(ended.map((each) => [each.requestId, each]))
  const unknown = new Map<string, number>()
  for (const { account, status } of ended)
    if (status === 0) unknown.set(account, (unknown.get(account) ?? 0) + 1)
  for (const { requestId, account, chargeNano, status } of rows) {
    if (chargeNano === 0n) continue
    const answered = byId.get(requestId)
    if (answered === undefined) unknown.set(account, (unknown.get(account) ?? 0) - 1)
    else expect([requestId, status, answered.status]).toEqual([requestId, status, 200])
  }
  const overcharged = [...unknown].filter(([, left]) => left < 0)
  expect(overcharged).toEqual([])
}

/** Only the account that runs out may have a write-off. */
export function expectNothingGiven(rows: readonly UsageRow[]): void {
  const given = rows.filter(({ account, writeoffNano }) => account !== 'dent' && writeoffNano > 0n)
  expect(given).toEqual([])
}
