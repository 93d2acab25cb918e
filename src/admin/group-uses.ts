// What uses each group: people, invitations, keys, channels and requests.

import type { Config } from '../config/types.ts'
import { groupOfNewAccounts } from './default-group.ts'
import { readStored } from './stored-items.ts'
import type { AdminContext } from './use-case.ts'
import { type StoredRooms, withStored } from './with-stored.ts'
import { dayMs } from './zone.ts'

interface GroupUse {
  readonly id: string
  /** Accounts that are allowed this group by name; accounts that are allowed every group do not count. */
  readonly people: number
  readonly invitations: number
  /** Keys of the store and of the file. */
  readonly keys: number
  /** The channels that serve the group. */
  readonly channels: readonly string[]
  /** Whether new accounts get this group. */
  readonly isDefault: boolean
  /** Requests of the last 24 hours. */
  readonly requests: number
  readonly chargeNano: string
}

interface GroupUseList {
  /** Sorted by name. */
  readonly items: readonly GroupUse[]
  /** Accounts that may make keys of any group. */
  readonly peopleOfAll: number
  readonly currency: string
}

const mostGroups = 10_000

/** `serving`: the channels that requests may go to. */
export async function listGroupUses(
  context: AdminContext,
  rooms: StoredRooms,
  serving: Config['channels'],
): Promise<GroupUseList> {
  const { store, nowMs } = context
  const { declared, items: stored, box } = await readStored(context, rooms)
  const config = withStored(declared, stored, box)
  const uses = await store.groupUses.read(nowMs)
  const usage = await store.rollups.read({
    cuts: [nowMs - dayMs],
    until: nowMs,
    filter: {},
    by: ['group'],
    sums: ['requests', 'chargeNano'],
    limit: mostGroups,
  })
  const sums = new Map(usage.map(({ by: [group = ''], sums }) => [group, sums]))
  const usual = await groupOfNewAccounts(context, config)
  const items = Object.keys(config.groups)
    .sort()
    .map((id) => {
      const [requests = 0n, chargeNano = 0n] = sums.get(id) ?? []
      return {
        id,
        people: uses.people.get(id) ?? 0,
        invitations: uses.invitations.get(id) ?? 0,
        keys: (uses.keys.get(id) ?? 0) + config.keys.filter(({ group }) => group === id).length,
        channels: serving
          .filter(({ groups }) => groups?.includes(id) ?? true)
          .map((channel) => channel.id),
        isDefault: id === usual,
        requests: Number(requests),
        chargeNano: String(chargeNano),
      }
    })
  return { items, peopleOfAll: uses.peopleOfAll, currency: await context.currency() }
}
