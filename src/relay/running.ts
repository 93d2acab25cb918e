// The requests that run in this process: lists them on demand, and stops one.

import { promptTokens, replyTokens } from '../config/prices.ts'
import { causeOf, GatewayError } from '../errors.ts'
import type { RunningRequest } from '../store/running.ts'
import { Call } from './call.ts'
import type { Deadlines } from './deadlines.ts'

/** The running requests of these accounts (null: all), oldest first, `limit` at most. */
export function runningIn(
  deadlines: Deadlines,
  accounts: ReadonlySet<string> | null,
  limit: number,
): readonly RunningRequest[] {
  return callsIn(deadlines)
    .filter(({ request }) => accounts === null || accounts.has(request.principal.account))
    .sort((one, other) => one.request.at - other.request.at)
    .slice(0, limit)
    .map(shown)
}

/** Stops a request. False where it does not run here, or is another account's. `account` null: an operator stops it. */
export function stopIn(deadlines: Deadlines, requestId: string, account: string | null): boolean {
  const call = callsIn(deadlines).find(({ request }) => request.requestId === requestId)
  if (call === undefined) return false
  if (account !== null && call.request.principal.account !== account) return false
  const kind = account === null ? 'stopped_by_operator' : 'stopped'
  const fault = { kind, message: '' } as const
  const why = new GatewayError('request_stopped', `The request was ${causeOf(fault)}.`)
  call.shutDown(why, fault)
  return true
}

function callsIn({ entries }: Deadlines): Call[] {
  return entries.filter((entry): entry is Call => entry instanceof Call && !entry.ending.over)
}

/** Tokens and cost are those so far: as the vendor reports them, else counted. */
function shown({ request, attempts, delivery }: Call): RunningRequest {
  const { requestId, at, principal, dialect, peek, authorization, startedMs } = request
  const { usage = null, outputBytes = null } = delivery.summary ?? {}
  const known = usage ?? authorization.counted(outputBytes ?? 0)
  const { current, tried, ttftMs } = attempts
  return {
    requestId,
    at,
    account: principal.account,
    key: principal.keyId,
    keyName: principal.keyName,
    group: principal.group,
    operation: dialect.operation,
    model: peek.model,
    stream: peek.stream,
    channel: current?.plan.candidate.channelId ?? null,
    attempts: tried,
    ageMs: Math.round(performance.now() - startedMs),
    ttftMs: ttftMs === null ? null : Math.round(ttftMs),
    inputTokens: promptTokens(known),
    outputTokens: replyTokens(known),
    costNano: String(authorization.capped(authorization.rate.charge(known, authorization.units))),
    heldNano: String(authorization.hold.amountNano),
  }
}
