// Finds what refers to a stored group or model: neither can be removed while something does.

import { createCatalog } from '../catalog/catalog.ts'
import { defaultGroup } from '../config/defaults.ts'
import type { Config } from '../config/types.ts'
import type { StoredItem } from '../store/configuration.ts'
import { groupOfNewAccounts } from './default-group.ts'
import { type AdminContext, AdminError } from './use-case.ts'
import { type Stored, withStored } from './with-stored.ts'

const mostNamed = 5

/** Throws AdminError `conflict` naming what uses a removed item. */
export async function checkAreUnused(
  context: Pick<AdminContext, 'store' | 'nowMs'>,
  stored: Stored,
  removed: readonly Pick<StoredItem, 'kind' | 'id'>[],
): Promise<void> {
  const config = withStored(stored.declared, stored.items, stored.box)
  for (const { kind, id } of removed) {
    if (kind === 'channel') continue
    const users =
      kind === 'group' ? await usersOfGroup(context, config, id) : usersOfModel(config, id)
    if (users.length === 0) continue
    const more = users.length > mostNamed ? `, and ${users.length - mostNamed} more` : ''
    const names = users.slice(0, mostNamed).join(', ')
    throw new AdminError('conflict', 'id', `is used by ${names}${more}`, 'in_use')
  }
}

/** The default group is built in: removing the stored one leaves nobody without a group. */
async function usersOfGroup(
  context: Pick<AdminContext, 'store' | 'nowMs'>,
  config: Config,
  group: string,
): Promise<readonly string[]> {
  if (group === defaultGroup) return []
  const channels = config.channels.filter(({ groups }) => groups?.includes(group))
  const { people, invitations, keys } = await context.store.groupUses.read(context.nowMs)
  const declaredKeys = config.keys.filter((key) => key.group === group).length
  return [
    ...counted((keys.get(group) ?? 0) + declaredKeys, 'key'),
    ...counted(people.get(group) ?? 0, 'account'),
    ...counted(invitations.get(group) ?? 0, 'invitation'),
    ...((await groupOfNewAccounts(context, config)) === group
      ? ['the setting identity.defaultGroup']
      : []),
    ...channels.map(({ id }) => `channel ${id}`),
  ]
}

function counted(number: number, noun: string): readonly string[] {
  return number === 0 ? [] : [number === 1 ? `1 ${noun}` : `${number} ${noun}s`]
}

/** A shipped model remains known when the stored one is removed. */
function usersOfModel({ channels }: Config, model: string): readonly string[] {
  if (createCatalog({}).find(model) !== null) return []
  const served = channels.filter(({ models }) => models !== null && Object.hasOwn(models, model))
  return served.map(({ id }) => `channel ${id}`)
}
