// Lists requests under way in all processes, and stops one.

import { setTimeout } from 'node:timers/promises'
import type { RunningRequest } from '../store/running.ts'
import type { Page } from './page.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import type { Owned } from './usage.ts'
import { type AdminContext, AdminError } from './use-case.ts'

type Running = Omit<RunningRequest, 'at' | 'channel'> & {
  readonly at: string
  /** For operators only. */
  readonly channel?: string | null
}

/** Ids made by `newRequestId`: for any other text no process needs to be asked. */
const requestIdForm = /^req_[0-9a-f]{28}$/

/** Processes look for watchers twice a second, so the first caller waits this long for their reports. */
const firstWordMs = 1_300
/** A process takes a stop within a second; this is the longest wait for it. */
const stopMs = 2_000
const pollMs = 50

/** Oldest first, from what each process reported in the last second. */
export async function listRunning(
  { store }: AdminContext,
  { account, owner }: Input<'listRunning'> & Owned,
): Promise<Page<Running>> {
  const whose = owner ?? account ?? null
  if (!(await store.running.watch(whose))) await setTimeout(firstWordMs)
  const { requests } = await store.running.reports()
  const items = requests
    .filter((each) => whose === null || each.account === whose)
    .sort((one, other) => one.at - other.at)
    .map(({ channel, ...each }) => ({
      ...each,
      at: timeText(each.at),
      ...(owner === undefined && { channel }),
    }))
  return { items, next: null }
}

/**
 * Closes the request's vendor connection, notifies its client and charges what was delivered. Throws AdminError:
 * `conflict` where the request has ended, `not_found` where it is unknown.
 */
export async function stopRequest(
  { store }: AdminContext,
  { id, owner }: Input<'stopRequest'> & Owned,
): Promise<{ readonly requestId: string; readonly stopped: true }> {
  const unknown = new AdminError(
    'not_found',
    'id',
    `there is no running request ${JSON.stringify(id)}`,
  )
  if (!requestIdForm.test(id)) throw unknown
  if ((await store.usage.find(owner ?? null, id)) !== null) {
    throw new AdminError('conflict', 'id', 'has ended already')
  }
  const stop = { requestId: id, account: owner ?? null }
  await store.running.stop(stop)
  const until = performance.now() + stopMs
  for (;;) {
    const state = await store.running.stopState(stop)
    if (state === 'done') return { requestId: id, stopped: true }
    if (state === 'none') throw unknown
    if (performance.now() < until) await setTimeout(pollMs)
    // Checked atomically, since a process may stop the request at this very moment.
    else if (await store.running.endStop(stop, 'given-up')) throw unknown
  }
}
