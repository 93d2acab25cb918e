// Settles outbox records into a copy of the ledger, giving the state that a kill -9 at that moment would leave.

import type { OutboxCopy } from '../store/sqlite-outbox-copy.ts'
import type { Store } from '../store/store.ts'
import { OutboxDrain } from './outbox-drain.ts'
import { Settler } from './settlement.ts'
import { SharedState } from './shared.ts'

const mostSetAside = 100_000

/** Returns how many requests the copied ledger did not have yet. Rejects at the first failure. */
export async function settleCopies(
  { settlements }: Pick<Store, 'settlements'>,
  copies: readonly OutboxCopy[],
): Promise<number> {
  const known = (await settlements.setAsides(mostSetAside, 'all')).map(({ requestId }) => requestId)
  let settled = 0
  let failure: unknown = null
  const settler = new Settler({
    settlements,
    nowMs: Date.now,
    // No retry, because a failure here is not temporary.
    delay: () => Promise.reject(failure),
    onFailure: (error) => {
      failure = error
    },
    onSettled: (rows) => {
      settled += rows
    },
    onSetAside: () => undefined,
    onLost: (_entry, _from, error) => {
      throw error
    },
  })
  for (const { node, rows } of copies) {
    const drain = new OutboxDrain({
      reader: {
        read: (after, until, limit) =>
          rows.filter(({ seq }) => seq > after && seq <= until).slice(0, limit),
        lastSeq: () => rows.at(-1)?.seq ?? 0,
        recycle: () => {
          throw new Error('A copy is not written again.')
        },
      },
      state: new SharedState(),
      settler,
      node,
      epoch: 0,
      nowMs: Date.now,
      setAside: new Set(known),
      onProgress: () => undefined,
    })
    await drain.settleLeft(rows.at(-1)?.seq ?? 0)
  }
  return settled
}
