// Holds a parsed file against the schema and against itself, and says everything that is wrong at once.

import type { z } from 'zod'
import { defaultGroup, ledgerDefaults } from './defaults.ts'
import { type Problem, pathText, suggestion } from './problems.ts'
import { type FileInput, fileSchema } from './schema.ts'

/** Names that only higher rooms know. */
export interface KnownNames {
  readonly vendors: readonly string[]
  readonly dialects: readonly string[]
}

export type Validated =
  | { readonly ok: true; readonly input: FileInput }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** Never throws; messages name places and expectations, and never show a value of the file. */
export function validate(raw: unknown, known: KnownNames): Validated {
  const parsed = fileSchema.safeParse(raw)
  if (!parsed.success) return { ok: false, problems: parsed.error.issues.flatMap(issueProblems) }
  const problems = crossCheck(parsed.data, known)
  return problems.length === 0 ? { ok: true, input: parsed.data } : { ok: false, problems }
}

function issueProblems(issue: z.core.$ZodIssue): Problem[] {
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(fileSchema, issue.path)
    return issue.keys.map((name) => ({
      path: pathText([...issue.path, name]),
      message: `unknown key${suggestion(name, known)}`,
    }))
  }
  const path = pathText(issue.path)
  if (issue.code === 'invalid_key') {
    return [{ path, message: issue.issues[0]?.message ?? issue.message }]
  }
  return [{ path, message: issue.message }]
}

/** The keys that the schema knows of the section at a path. */
function keysAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): readonly string[] {
  const def = (schema as z.core.$ZodTypes)._zod.def
  if (def.type === 'optional' || def.type === 'nullable') return keysAt(def.innerType, path)
  if (def.type === 'pipe') return keysAt(def.out, path)
  const [step, ...rest] = path
  if (def.type === 'array') return keysAt(def.element, rest)
  if (def.type === 'record') return keysAt(def.valueType, rest)
  if (def.type !== 'object') return []
  if (step === undefined) return Object.keys(def.shape)
  const inner = def.shape[String(step)]
  return inner === undefined ? [] : keysAt(inner, rest)
}

function crossCheck(input: FileInput, known: KnownNames): Problem[] {
  const channels = input.channels ?? []
  const keys = input.keys ?? []
  const groups = new Set([defaultGroup, ...Object.keys(input.groups ?? {})])
  return [
    ...ledgerProblems(input.ledger ?? {}),
    ...repeats(channels, 'channels', 'id', (channel) => channel.id),
    ...channels.flatMap((channel, index) => channelProblems(channel, index, groups, known)),
    ...repeats(keys, 'keys', 'name', (key) => key.name),
    ...repeats(keys, 'keys', 'secret', (key) => key.secret),
    ...keys.flatMap((key, index) =>
      unknownName(`keys[${index}].group`, 'group', key.group ?? defaultGroup, groups),
    ),
  ]
}

/** A node must renew before it fences itself, and fence itself before its leases are taken from it. */
function ledgerProblems(ledger: NonNullable<FileInput['ledger']>): Problem[] {
  const order = ['renewMs', 'fenceMs', 'leaseMs'] as const
  const problems: Problem[] = []
  for (const [index, name] of order.slice(1).entries()) {
    const earlier = order[index] ?? name
    const low = ledger[earlier] ?? ledgerDefaults[earlier]
    if (low < (ledger[name] ?? ledgerDefaults[name])) continue
    const path = ledger[earlier] == null ? `ledger.${name}` : `ledger.${earlier}`
    problems.push({ path, message: `expected ${earlier} below ${name}` })
  }
  return problems
}

function channelProblems(
  channel: NonNullable<FileInput['channels']>[number],
  index: number,
  groups: ReadonlySet<string>,
  known: KnownNames,
): Problem[] {
  const path = `channels[${index}]`
  const problems = unknownName(`${path}.vendor`, 'vendor', channel.vendor, known.vendors)
  if (channel.dialect != null) {
    problems.push(...unknownName(`${path}.dialect`, 'dialect', channel.dialect, known.dialects))
  }
  for (const [position, name] of (channel.groups ?? []).entries()) {
    problems.push(...unknownName(`${path}.groups[${position}]`, 'group', name, groups))
  }
  const models = channel.models ?? []
  for (const [publicName, vendorName] of Array.isArray(models) ? [] : Object.entries(models)) {
    if (vendorName.endsWith('*') && !publicName.endsWith('*')) {
      const at = pathText(['channels', index, 'models', publicName])
      problems.push({
        path: at,
        message: 'expected a * at the end of both names, or of the first only',
      })
    }
  }
  return problems
}

function unknownName(path: string, what: string, name: string, known: Iterable<string>): Problem[] {
  const names = [...known]
  if (names.includes(name)) return []
  const near = suggestion(name, names)
  return [{ path, message: `unknown ${what}${near || `; expected one of ${names.join(', ')}`}` }]
}

function repeats<Item>(
  items: readonly Item[],
  list: string,
  field: string,
  value: (item: Item) => string,
): Problem[] {
  const first = new Map<string, number>()
  const problems: Problem[] = []
  for (const [index, item] of items.entries()) {
    const earlier = first.get(value(item))
    if (earlier === undefined) first.set(value(item), index)
    else {
      const message = `the same as ${list}[${earlier}].${field}; each needs its own`
      problems.push({ path: `${list}[${index}].${field}`, message })
    }
  }
  return problems
}
