// Counts the people, invitations and keys that name each group.

import type { Engine } from './engine.ts'
import { readGroupNames } from './people.ts'

interface GroupUses {
  /** Number of people who may make keys of any group. */
  readonly peopleOfAll: number
  /** By group, without groups that nobody names. Deleted people are not counted. */
  readonly people: ReadonlyMap<string, number>
  /** Invitations that may still be used. */
  readonly invitations: ReadonlyMap<string, number>
  /** Keys made in the store, including those that are disabled or expired. */
  readonly keys: ReadonlyMap<string, number>
}

export interface GroupUseReader {
  /** `nowMs`: Unix milliseconds; invitations that expired by then are not counted. */
  read(nowMs: number): Promise<GroupUses>
}

interface Counted {
  readonly groups: string | null
  readonly number: number
}

export function groupUseReader(engine: Engine): GroupUseReader {
  return {
    async read(nowMs) {
      // Few of the lists differ, so equal lists are counted in SQL and split into groups here.
      const people = await engine.query<Counted>(
        `SELECT key_groups AS "groups", count(*) AS number FROM account
          WHERE deleted_at IS NULL GROUP BY key_groups`,
        [],
      )
      const invitations = await engine.query<Counted>(
        `SELECT key_groups AS "groups", count(*) AS number FROM invitation
          WHERE used_at IS NULL AND revoked_at IS NULL AND expires_at > ? GROUP BY key_groups`,
        [nowMs],
      )
      const keys = await engine.query<{ readonly name: string; readonly number: number }>(
        'SELECT group_id AS name, count(*) AS number FROM api_key GROUP BY group_id',
        [],
      )
      return {
        peopleOfAll: people.find(({ groups }) => groups === null)?.number ?? 0,
        people: byName(people),
        invitations: byName(invitations),
        keys: new Map(keys.map(({ name, number }) => [name, number])),
      }
    },
  }
}

function byName(counted: readonly Counted[]): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>()
  for (const { groups, number } of counted) {
    for (const name of readGroupNames(groups) ?? [])
      numbers.set(name, (numbers.get(name) ?? 0) + number)
  }
  return numbers
}
