// Health of providers' callbacks: when their messages last arrived, and how many orders wait for one.

import type { Engine } from './engine.ts'
import { notEnded } from './payment-orders.ts'
import type { CallbackHealth, CallbackTable } from './payment-tables.ts'
import { cleanText } from './text.ts'

const noteTaken = `INSERT INTO payment_callback (provider, mode, taken_at) VALUES (?, ?, ?)
  ON CONFLICT (provider, mode) DO UPDATE SET taken_at = excluded.taken_at
    WHERE coalesce(payment_callback.taken_at, 0) <= excluded.taken_at`

const noteRefused = `INSERT INTO payment_callback (provider, mode, refused_at, problem) VALUES (?, ?, ?, ?)
  ON CONFLICT (provider, mode) DO UPDATE SET refused_at = excluded.refused_at, problem = excluded.problem
    WHERE coalesce(payment_callback.refused_at, 0) <= excluded.refused_at`

const ordersOf = `SELECT count(*) AS open, count(CASE WHEN created_at <= ? THEN 1 END) AS stuck
  FROM payment_order WHERE ${notEnded} AND provider = ? AND mode = ?`

export function callbackTable(engine: Engine): CallbackTable {
  return {
    async note({ provider, mode, problem, at }) {
      if (problem === null) await engine.run(noteTaken, [provider, mode, at])
      else await engine.run(noteRefused, [provider, mode, at, cleanText(problem)])
    },
    health: ({ provider, mode, stuckBefore }) =>
      engine.snapshot(async (session) => {
        const [messages] = await session.query<
          Pick<CallbackHealth, 'takenAt' | 'refusedAt' | 'problem'>
        >(
          `SELECT taken_at AS "takenAt", refused_at AS "refusedAt", problem FROM payment_callback
            WHERE provider = ? AND mode = ?`,
          [provider, mode],
        )
        const [orders] = await session.query<Pick<CallbackHealth, 'open' | 'stuck'>>(ordersOf, [
          stuckBefore,
          provider,
          mode,
        ])
        const [credited] = await session.query<Pick<CallbackHealth, 'creditedAt'>>(
          `SELECT max(credited_at) AS "creditedAt" FROM payment_order
            WHERE provider = ? AND mode = ? AND credited_at IS NOT NULL`,
          [provider, mode],
        )
        return { ...silent, ...messages, ...orders, ...credited }
      }),
  }
}

const silent: CallbackHealth = {
  takenAt: null,
  refusedAt: null,
  problem: null,
  creditedAt: null,
  open: 0,
  stuck: 0,
}
