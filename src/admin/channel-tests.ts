// The last test of each channel, as the list of what operators did has it.

import { timeText } from './time.ts'
import type { AdminContext } from './use-case.ts'
import { dayMs } from './zone.ts'

/** The operation that notes its outcome. */
export const testAction = 'testChannel'
/** Older tests say nothing of how a channel is. */
const keptMs = 7 * dayMs
const mostRead = 500

export interface LastTest {
  readonly at: string
  readonly ok: boolean
  readonly model: string | null
  readonly durationMs: number
}

/** By channel: of the last seven days, and of the last 500 tests. */
export async function lastTests({
  store,
  nowMs,
}: Pick<AdminContext, 'store' | 'nowMs'>): Promise<ReadonlyMap<string, LastTest>> {
  const filter = { action: testAction, since: nowMs - keptMs, limit: mostRead }
  const events = await store.operatorEvents.list(filter)
  // The newest comes last, and stays.
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
