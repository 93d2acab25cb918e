// Changes many channels at once, and exports and imports channels as a file.

import { hideSecrets } from './channel-secrets.ts'
import type { Input } from './schema.ts'
import {
  applyChanges,
  type Changed,
  type Document,
  findItem,
  foreseen,
  type ItemChange,
  merged,
  readStored,
} from './stored-items.ts'
import { type AdminContext, AdminError } from './use-case.ts'
import type { Stored, StoredRooms } from './with-stored.ts'

/** Changes all of the stored channels that are named or have the tag, or none. Throws AdminError. */
export function changeChannels(
  context: AdminContext,
  rooms: StoredRooms,
  { ids, tag, changes }: Input<'changeChannels'>,
): Promise<readonly Changed[]> {
  return applyChanges(context, rooms, (stored) => {
    const chosen =
      ids === undefined
        ? stored.items.filter(
            (item) => item.kind === 'channel' && tagsOf(item.document).includes(tag),
          )
        : [...new Set(ids)].map((id, at) => chosenItem(stored, id, `ids[${at}]`))
    if (chosen.length === 0) {
      throw new AdminError('not_found', 'tag', 'no stored channel has this tag')
    }
    return chosen.map((item) => ({
      kind: 'channel',
      id: item.id,
      document: merged(item, changes, stored.box),
    }))
  })
}

function tagsOf({ tags }: Document): readonly unknown[] {
  return Array.isArray(tags) ? tags : []
}

function chosenItem(stored: Stored, id: string, field: string) {
  const found = findItem(stored, 'channel', id)
  if (found !== undefined) return found
  const isDeclared = stored.declared.channels.some((channel) => channel.id === id)
  const why = isDeclared
    ? 'it is declared in the configuration file: change it there'
    : 'is not a stored channel'
  throw new AdminError(isDeclared ? 'conflict' : 'not_found', field, `${id}: ${why}`)
}

/** The channels as in the `channels` section of a file; `***` stands for a secret. */
export async function exportChannels(
  context: AdminContext,
  rooms: StoredRooms,
): Promise<{ readonly channels: readonly Document[] }> {
  const { items } = await readStored(context, rooms)
  const channels = items.filter(({ kind }) => kind === 'channel')
  return { channels: channels.map(({ id, document }) => ({ id, ...hideSecrets(document) })) }
}

interface ImportedChannel {
  readonly id: string
  readonly action: 'create' | 'update' | 'refuse'
  /** Why the channel is refused. */
  readonly problem: string | null
  /** The stored channel before and after, without secrets; null: there is none, or it is refused. */
  readonly before: Document | null
  readonly after: Document | null
}

interface ChannelImport {
  /** False for a dry run, and where a channel is refused. */
  readonly applied: boolean
  readonly channels: readonly ImportedChannel[]
}

/** Imports all channels or none. Existing ones are replaced; `***` keeps a secret. */
export async function importChannels(
  context: AdminContext,
  rooms: StoredRooms,
  { channels, apply }: Input<'importChannels'>,
): Promise<{ readonly result: ChannelImport; readonly changed: readonly Changed[] }> {
  const stored = await readStored(context, rooms)
  const views = await Promise.all(
    channels.map(async (given, at): Promise<ImportedChannel> => {
      const { id } = given
      const isRepeated = channels.findIndex((each) => each.id === id) !== at
      const outcome = isRepeated
        ? { problem: 'is in the list twice' }
        : await foreseen(stored, () => importedAs(stored, given))
      if ('problem' in outcome)
        return { id, action: 'refuse', problem: outcome.problem, before: null, after: null }
      const { before, after } = outcome
      return { id, action: before === null ? 'create' : 'update', problem: null, before, after }
    }),
  )
  const isWhole = views.every(({ problem }) => problem === null)
  if (!apply || !isWhole || views.length === 0) {
    return { result: { applied: false, channels: views }, changed: [] }
  }
  const changed = await applyChanges(context, rooms, (now) =>
    channels.map((given) => importedAs(now, given)),
  )
  return { result: { applied: true, channels: views }, changed }
}

/** The imported document replaces the stored one, except for secrets. */
function importedAs(
  stored: Stored,
  { id, ...said }: Input<'importChannels'>['channels'][number],
): ItemChange {
  const found = findItem(stored, 'channel', id)
  if (found === undefined) return { kind: 'channel', id, document: said }
  const others = Object.keys(found.document).filter((name) => !(name in said))
  const changes = { ...Object.fromEntries(others.map((name) => [name, null])), ...said }
  return { kind: 'channel', id, document: merged(found, changes, stored.box) }
}
