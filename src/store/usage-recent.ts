// Figures of recent requests over all accounts, for monitoring the deployment.

import type { Engine, Session } from './engine.ts'
import type { RecentError, RecentUsage, RefusedModel } from './store.ts'

/** Errors are searched in the newest requests only, at most this many. */
const mostRows = 50_000
const mostErrors = 20
const mostModels = 1_000
const minuteMs = 60_000

/** Answered by the index of times alone. */
const byMinute = `SELECT at / ${minuteMs} AS minute, count(*) AS requests FROM usage
  WHERE at >= ? GROUP BY 1 ORDER BY 1`

const oldestOfNewest = `SELECT min(at) AS at FROM (
  SELECT at FROM usage WHERE at >= ? ORDER BY at DESC LIMIT ${mostRows}) AS newest`

const byCode = `SELECT error_code AS code, count(*) AS requests, max(at) AS "lastAt",
    max(request_id) AS "requestId"
  FROM usage WHERE at >= ? AND error_code IS NOT NULL GROUP BY error_code
  ORDER BY 2 DESC, 1 LIMIT ${mostErrors}`

export function recentUsage(engine: Engine, since: number): Promise<RecentUsage> {
  return engine.snapshot(async (session) => {
    const minutes = await session.query<RecentUsage['minutes'][number]>(byMinute, [since])
    const requests = minutes.reduce((sum, each) => sum + each.requests, 0)
    const errorsSince = requests > mostRows ? await newestSince(session, since) : since
    const errors = await session.query<RecentError>(byCode, [errorsSince])
    return { minutes, errors, errorsSince }
  })
}

async function newestSince(session: Session, since: number): Promise<number> {
  const [row] = await session.query<{ readonly at: number | null }>(oldestOfNewest, [since])
  return row?.at ?? since
}

/** The totals combine all such models under one name, so rows are read instead. */
const refusedByModel = `SELECT model_asked AS model, count(*) AS requests FROM (
    SELECT model_asked, channel, price_version, status FROM usage WHERE at >= ?
    ORDER BY at DESC LIMIT ${mostRows}) AS newest
  WHERE channel IS NULL AND price_version IS NULL AND status = 503
  GROUP BY model_asked ORDER BY 2 DESC, 1 LIMIT ${mostModels}`

export function refusedUsage(engine: Engine, since: number): Promise<readonly RefusedModel[]> {
  return engine.query<RefusedModel>(refusedByModel, [since])
}
