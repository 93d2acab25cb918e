// What of a channel must fit what stands elsewhere: vendors, formats and groups there are. Needs no schema.

import { type Problem, pathText, suggestion } from './problems.ts'
import type { FileSettings } from './schema.ts'

/** Names that only higher rooms know. */
export interface KnownNames {
  readonly vendors: readonly string[]
  readonly dialects: readonly string[]
  /** Vendors without an address of their own. */
  readonly addressless?: readonly string[]
}

/** `at`: where the channel stands. */
export function channelProblems(
  channel: FileSettings['channels'][number],
  at: readonly PropertyKey[],
  groups: ReadonlySet<string>,
  known: KnownNames,
): Problem[] {
  const path = (...steps: readonly PropertyKey[]) => pathText([...at, ...steps])
  const problems = unknownName(path('vendor'), 'vendor', channel.vendor, known.vendors)
  if (channel.baseUrl === null && known.addressless?.includes(channel.vendor)) {
    problems.push({ path: path('baseUrl'), message: `vendor ${channel.vendor} needs one` })
  }
  if (channel.dialect !== null) {
    problems.push(...unknownName(path('dialect'), 'dialect', channel.dialect, known.dialects))
  }
  for (const [position, name] of (channel.groups ?? []).entries()) {
    problems.push(...unknownName(path('groups', position), 'group', name, groups))
  }
  const models = channel.models ?? []
  for (const [publicName, vendorName] of Array.isArray(models) ? [] : Object.entries(models)) {
    if (vendorName.endsWith('*') && !publicName.endsWith('*')) {
      problems.push({
        path: path('models', publicName),
        message: 'expected a * at the end of both names, or of the first only',
      })
    }
  }
  return [...problems, ...keyProblems(channel, path)]
}

function keyProblems(
  { key, keys }: FileSettings['channels'][number],
  path: (...steps: readonly PropertyKey[]) => string,
): Problem[] {
  if (key !== null && keys.length > 0) {
    return [{ path: path('keys'), message: 'stands in place of key: leave one of them out' }]
  }
  const names = keys.map(({ name }) => name)
  return names.flatMap((name, index) =>
    names.indexOf(name) === index
      ? []
      : [{ path: path('keys', index, 'name'), message: 'another key of the channel has it' }],
  )
}

export function unknownName(
  path: string,
  what: string,
  name: string,
  known: Iterable<string>,
): Problem[] {
  const names = [...known]
  if (names.includes(name)) return []
  const near = suggestion(name, names)
  return [{ path, message: `unknown ${what}${near || `; expected one of ${names.join(', ')}`}` }]
}
