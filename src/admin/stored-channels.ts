// What is done to many channels at once, and channels as a file.

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

/** All of them or none: those of the store that are named, or that have the tag. Throws AdminError. */
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
      throw new AdminError('not_found', 'tag', 'no channel of the store has this tag')
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
  const why = isDeclared ? 'the configuration file says it: change it there' : 'is not in the store'
  throw new AdminError(isDeclared ? 'conflict' : 'not_found', field, `${id}: ${why}`)
}

/** As the `channels` of a file; `***` stands where a secret is. */
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
  /** Why it is refused. */
  readonly problem: string | null
  /** What the store has of it and would have, without secrets; null: nothing, or it is refused. */
  readonly before: Document | null
  readonly after: Document | null
}

interface ChannelImport {
  /** False of a dry run, and where one is refused. */
  readonly applied: boolean
  readonly channels: readonly ImportedChannel[]
}

/** All of them or none: those that are there become what is said here; `***` leaves a secret as it is. */
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
        ? { problem: 'stands here twice' }
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

/** All that is there gives way to what is said, but for secrets. */
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
