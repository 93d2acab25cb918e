// Requests that still run, in whichever process, and how one is stopped.

import { setTimeout } from 'node:timers/promises'
import type { RunningRequest } from '../store/running.ts'
import type { Page } from './page.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import type { Owned } from './usage.ts'
import { type AdminContext, AdminError } from './use-case.ts'

type Running = Omit<RunningRequest, 'at' | 'channel'> & {
  readonly at: string
  /** Of operators alone. */
  readonly channel?: string | null
}

/** As `newRequestId` makes them: others need not be waited for. */
const requestIdForm = /^req_[0-9a-f]{28}$/

/** Processes look twice a second: who asks first waits for their word, and for those that rest no longer. */
const firstWordMs = 1_300
/** A stop is taken within a second. */
const stopMs = 2_000
const pollMs = 50

/** Oldest first; what each process said in the last second. */
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
 * Its vendor is let go, its client is told, and what was delivered is charged. Throws AdminError: `conflict` where it has
 * ended, `not_found` where nobody knows of it.
 */
export async function stopRequest(
  { store }: AdminContext,
  { id, owner }: Input<'stopRequest'> & Owned,
): Promise<{ readonly requestId: string; readonly stopped: true }> {
  const unknown = new AdminError('not_found', 'id', `no request ${JSON.stringify(id)} runs`)
  if (!requestIdForm.test(id)) throw unknown
  if ((await store.usage.find(owner ?? null, id)) !== null) {
    throw new AdminError('conflict', 'id', 'has ended already')
  }
  await store.running.stop({ requestId: id, account: owner ?? null })
  const until = performance.now() + stopMs
  while (await store.running.isStopping(id)) {
    if (performance.now() < until) await setTimeout(pollMs)
    // Whoever takes it back first: a process may stop it in this very moment.
    else if (await store.running.stopped(id)) throw unknown
  }
  return { requestId: id, stopped: true }
}
