// A channel's balance at its vendor: asked on an operator's demand, and shown with its time.

import { lanesOf } from '../config/channel-keys.ts'
import type { Config } from '../config/types.ts'
import { balanceOf, type VendorBalance } from '../vendors/balances.ts'
import { vendors } from '../vendors/registry.ts'
import { readStored } from './stored-items.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'
import { askVendor, VendorAskError } from './vendor-ask.ts'
import { type StoredRooms, withStored } from './with-stored.ts'
import { dayMs } from './zone.ts'

/** The action of the operator event that records the answer. */
export const balanceAction = 'askChannelBalance'
/** How long the last answer is reused, whichever node asked. */
const freshMs = 60_000
const keptMs = 7 * dayMs
const mostRead = 500

export interface ChannelBalance {
  readonly at: string
  /** One amount per currency. */
  readonly amounts: readonly VendorBalance[]
}

export function offersBalance(vendor: string): boolean {
  return balanceOf(vendor) !== null
}

/**
 * Asks with the first key in use. Throws AdminError `conflict` where the balance cannot be had; `isNew`: the vendor was
 * asked now.
 */
export async function askBalance(
  context: AdminContext,
  rooms: StoredRooms & { readonly config: Config },
  { id }: { readonly id: string },
): Promise<{ readonly balance: ChannelBalance; readonly isNew: boolean }> {
  // Read from the store: this process may not have applied the latest changes yet.
  const stored = withStored(rooms.declared, (await readStored(context, rooms)).items, rooms.box)
  const channel = [...stored.channels, ...rooms.config.channels].find((each) => each.id === id)
  if (channel === undefined)
    throw new AdminError('not_found', 'id', `there is no channel ${JSON.stringify(id)}`)
  const [question, vendor] = [balanceOf(channel.vendor), vendors[channel.vendor]]
  if (question === null || vendor === undefined) {
    const message = `the vendor ${channel.vendor} reports no balance for a channel's key`
    throw new AdminError('conflict', 'id', message)
  }
  const known = (await lastBalances(context)).get(id)
  if (known !== undefined && context.nowMs - Date.parse(known.at) < freshMs)
    return { balance: known, isNew: false }
  const baseUrl = channel.baseUrl ?? vendor.baseUrl ?? ''
  const asked = { ...channel, key: lanesOf(channel)[0]?.key ?? null }
  try {
    const amounts = question.read(await askVendor(asked, vendor, question.address), baseUrl)
    if (amounts === null) throw new VendorAskError(`${id}: the vendor's answer names no balance`)
    return { balance: { at: timeText(context.nowMs), amounts }, isNew: true }
  } catch (error) {
    if (!(error instanceof VendorAskError)) throw error
    throw new AdminError('conflict', 'id', error.message)
  }
}

/** The latest balance of each channel in the last seven days, read from the operator events. */
export async function lastBalances({
  store,
  nowMs,
}: Pick<AdminContext, 'store' | 'nowMs'>): Promise<ReadonlyMap<string, ChannelBalance>> {
  const filter = { action: balanceAction, since: nowMs - keptMs, limit: mostRead }
  const events = await store.operatorEvents.list(filter)
  // Reversed, so that the newest entry of each channel replaces older ones.
  return new Map(
    events.toReversed().flatMap(({ at, target, detail }) => {
      const [id] = Object.values(target)
      const { amounts } = detail
      if (id === undefined || !Array.isArray(amounts)) return []
      return [[id, { at: timeText(at), amounts: amounts as readonly VendorBalance[] }] as const]
    }),
  )
}
