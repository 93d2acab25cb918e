// Validates a parsed file against the schema and for contradictions, and reports all problems at once.

import type { z } from 'zod'
import { channelProblems, currencyProblems, type KnownNames, unknownName } from './cross-check.ts'
import { defaultGroup } from './defaults.ts'
import { type Problem, pathText, suggestion } from './problems.ts'
import { channel, type FileSettings, fileSchema } from './schema.ts'
import { apiKey } from './schema-keys.ts'
import { ledger } from './schema-money.ts'
import { identity } from './schema-run-time.ts'

type Channel = z.output<typeof channel>
type ApiKey = z.output<typeof apiKey>

type Validated =
  | { readonly ok: true; readonly input: FileSettings }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** Never throws; messages name places and expectations, and never show a value of the file. */
export function validate(raw: unknown, known: KnownNames): Validated {
  const parsed = fileSchema.safeParse(raw)
  if (!parsed.success) {
    const problems = parsed.error.issues.flatMap((issue) => issueProblems(issue, raw))
    return { ok: false, problems: [...problems, ...crossCheck(wholeParts(raw), known)] }
  }
  const said = Object(Object(raw).ledger)
  const problems = [
    ...crossCheck({ ...parsed.data, said }, known),
    ...currencyProblems(parsed.data),
  ]
  return problems.length === 0 ? { ok: true, input: parsed.data } : { ok: false, problems }
}

/** The parts that are checked against each other; an invalid entry is null, so that the others keep their places. */
interface Parts {
  readonly ledger: FileSettings['ledger'] | null
  /** The ledger section as written in the file, without defaults. */
  readonly said: Readonly<Record<string, unknown>>
  readonly groups: Readonly<Record<string, unknown>>
  readonly publicGroups: readonly string[]
  readonly identity: { readonly defaultGroup?: string | null }
  readonly channels: readonly (Channel | null)[]
  readonly keys: readonly (ApiKey | null)[]
}

/** The valid parts of a refused file, so that contradictions between them are reported as well. */
function wholeParts(raw: unknown): Parts {
  const file: Readonly<Record<string, unknown>> = Object(raw)
  const entries = <Entry>(value: unknown, schema: z.ZodType<Entry>): (Entry | null)[] =>
    Array.isArray(value) ? value.map((entry) => schema.safeParse(entry).data ?? null) : []
  return {
    ledger: ledger.safeParse(file.ledger ?? {}).data ?? null,
    said: Object(file.ledger),
    groups: Object(file.groups),
    publicGroups: fileSchema.shape.publicGroups.safeParse(file.publicGroups).data ?? [],
    identity: identity.safeParse(file.identity).data ?? {},
    channels: entries(file.channels, channel),
    keys: entries(file.keys, apiKey),
  }
}

function issueProblems(issue: z.core.$ZodIssue, raw: unknown): Problem[] {
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(fileSchema, issue.path)
    return issue.keys.map((name) => ({
      path: pathText([...issue.path, name]),
      message: `unknown key${suggestion(name, known) || `; known here: ${known.join(', ')}`}`,
    }))
  }
  const path = pathText(issue.path)
  if (issue.code !== 'custom' && isMissing(raw, issue.path)) {
    return [{ path, message: 'is required' }]
  }
  if (issue.code === 'invalid_type' && issue.expected === 'object') {
    const known = keysAt(fileSchema, issue.path)
    const which = known.length === 0 ? '' : `: ${known.join(', ')}`
    return [{ path, message: `${issue.message}${which}` }]
  }
  if (issue.code === 'invalid_key') {
    return [{ path, message: issue.issues[0]?.message ?? issue.message }]
  }
  return [{ path, message: issue.message }]
}

function isMissing(raw: unknown, path: readonly PropertyKey[]): boolean {
  const value = path.reduce<unknown>((part, step) => Object(part)[step], raw)
  return value === undefined || value === null
}

/** The keys that the schema knows in the section at a path. */
function keysAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): readonly string[] {
  const def = (schema as z.core.$ZodTypes)._zod.def
  if (def.type === 'optional' || def.type === 'nullable') return keysAt(def.innerType, path)
  if (def.type === 'pipe') {
    return [...keysAt(def.in, path), ...keysAt(def.out, path)]
  }
  const [step, ...rest] = path
  if (def.type === 'array') return keysAt(def.element, rest)
  if (def.type === 'record') return keysAt(def.valueType, rest)
  if (def.type !== 'object') return []
  if (step === undefined) return Object.keys(def.shape)
  const inner = def.shape[String(step)]
  return inner === undefined ? [] : keysAt(inner, rest)
}

function crossCheck(input: Parts, known: KnownNames): Problem[] {
  const { channels, keys } = input
  const groups = new Set([defaultGroup, ...Object.keys(input.groups)])
  return [
    ...(input.ledger === null ? [] : ledgerProblems(input.ledger, input.said)),
    ...repeats(channels, 'channels', 'id', (channel) => channel.id),
    ...channels.flatMap((entry, index) =>
      entry === null ? [] : channelProblems(entry, ['channels', index], groups, known),
    ),
    ...repeats(keys, 'keys', 'name', (key) => key.name),
    ...repeats(keys, 'keys', 'secret', (key) => key.secret),
    ...keys.flatMap((key, index) =>
      key === null ? [] : unknownName(`keys[${index}].group`, 'group', key.group, groups),
    ),
    ...input.publicGroups.flatMap((name, index) =>
      unknownName(`publicGroups[${index}]`, 'group', name, groups),
    ),
    ...unknownName(
      'identity.defaultGroup',
      'group',
      input.identity.defaultGroup ?? defaultGroup,
      groups,
    ),
  ]
}

/** A node must renew its lease before it fences itself, and fence itself before its leases are taken away. */
function ledgerProblems(ledger: FileSettings['ledger'], said: Parts['said']): Problem[] {
  const order = ['renewMs', 'fenceMs', 'leaseMs'] as const
  const problems: Problem[] = []
  for (const [index, name] of order.slice(1).entries()) {
    const earlier = order[index] ?? name
    if (ledger[earlier] < ledger[name]) continue
    const path = said[earlier] == null ? `ledger.${name}` : `ledger.${earlier}`
    problems.push({ path, message: `expected ${earlier} below ${name}` })
  }
  return problems
}

function repeats<Item>(
  items: readonly (Item | null)[],
  list: string,
  field: string,
  value: (item: Item) => string,
): Problem[] {
  const first = new Map<string, number>()
  const problems: Problem[] = []
  for (const [index, item] of items.entries()) {
    if (item === null) continue
    const earlier = first.get(value(item))
    if (earlier === undefined) first.set(value(item), index)
    else {
      const message = `is the same as ${list}[${earlier}].${field}; each must be different`
      problems.push({ path: `${list}[${index}].${field}`, message })
    }
  }
  return problems
}
