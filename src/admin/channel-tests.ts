// The latest test of each channel, read from the operator events.

import { timeText } from './time.ts'
import type { AdminContext } from './use-case.ts'
import { dayMs } from './zone.ts'

/** The action of the operator event that records a test. */
export const testAction = 'testChannel'
/** Older tests say nothing about a channel's present state. */
const keptMs = 7 * dayMs
const mostRead = 500

export interface LastTest {
  readonly at: string
  readonly ok: boolean
  readonly model: string | null
  readonly durationMs: number
}

/** The latest test of each channel in the last seven days and the last 500 tests. */
export async function lastTests({
  store,
  nowMs,
}: Pick<AdminContext, 'store' | 'nowMs'>): Promise<ReadonlyMap<string, LastTest>> {
  const filter = { action: testAction, since: nowMs - keptMs, limit: mostRead }
  const events = await store.operatorEvents.list(filter)
  // Reversed, so that the newest entry of each channel replaces older ones.
  return new Map(
    events.toReversed().flatMap(({ at, target, detail }) => {
      const { ok, model, durationMs } = detail
      const [id] = Object.values(target)
      if (id === undefined || typeof ok !== 'boolean' || typeof durationMs !== 'number') return []
      const asked = typeof model === 'string' ? model : null
      return [[id, { at: timeText(at), ok, model: asked, durationMs }] as const]
    }),
  )
}
