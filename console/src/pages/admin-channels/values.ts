// Converts a channel to the typed values of its form, and back to the form of the API.

import type { Shape } from '../../api/client.ts'
import type { Channel } from './channels.ts'

type Input = Shape<'ChannelInput'>

export const timers = [
  'connectMs',
  'sendIdleMs',
  'firstEventMs',
  'replyMs',
  'idleMs',
  'semanticIdleMs',
  'totalMs',
] as const

export interface KeyValues {
  readonly name: string
  /** As it was typed; never the stored secret. */
  readonly key: string
  readonly disabled: boolean
  /** The store has a key of this name: if left empty, it stays. */
  readonly isStored: boolean
}

export interface ChannelValues {
  readonly id: string
  readonly vendor: string
  readonly baseUrl: string
  readonly keys: readonly KeyValues[]
  readonly modelMode: 'shipped' | 'listed'
  readonly models: readonly { readonly name: string; readonly own: string }[]
  readonly groupMode: 'all' | 'some'
  readonly groups: readonly string[]
  readonly priority: string
  readonly weight: string
  readonly concurrency: string
  readonly limits: { readonly requestsPerMinute: string; readonly tokensPerMinute: string }
  readonly costMultiplier: string
  readonly tags: string
  readonly note: string
  readonly dialect: string
  readonly proxy: string
  readonly passTrace: boolean
  readonly timeouts: Readonly<Record<(typeof timers)[number], string>>
  /** JSON. */
  readonly headers: string
  /** JSON. */
  readonly parameters: string
  /** Separated by commas. */
  readonly retryStatuses: { readonly add: string; readonly remove: string }
  /** JSON. */
  readonly options: string
}

export const newValues: ChannelValues = {
  id: '',
  vendor: '',
  baseUrl: '',
  keys: [{ name: 'key', key: '', disabled: false, isStored: false }],
  modelMode: 'shipped',
  models: [],
  groupMode: 'all',
  groups: [],
  priority: '0',
  weight: '1',
  concurrency: '',
  limits: limitsOf({}),
  costMultiplier: '1',
  tags: '',
  note: '',
  dialect: '',
  proxy: '',
  passTrace: false,
  timeouts: timersOf({}),
  headers: '',
  parameters: '',
  retryStatuses: { add: '', remove: '' },
  options: '',
}

function timersOf(given: Readonly<Record<string, unknown>>): ChannelValues['timeouts'] {
  return Object.fromEntries(timers.map((name) => [name, textOf(given[name])])) as never
}

export function valuesOf(channel: Channel): ChannelValues {
  const { document, models, groups, keys } = channel
  return {
    id: channel.id,
    vendor: channel.vendor,
    baseUrl: channel.baseUrl ?? '',
    keys: keys.map(({ name, state }) => ({
      name,
      key: '',
      disabled: state === 'disabled',
      isStored: true,
    })),
    modelMode: models === null ? 'shipped' : 'listed',
    models: Object.entries(models ?? {}).map(([name, own]) => ({ name, own })),
    groupMode: groups === null ? 'all' : 'some',
    groups: groups ?? [],
    priority: String(channel.priority),
    weight: String(channel.weight),
    concurrency: textOf(document['concurrency']),
    limits: limitsOf(Object(document['limits'])),
    costMultiplier: textOf(document['costMultiplier']),
    tags: channel.tags.join(', '),
    note: textOf(document['note']),
    dialect: channel.dialect ?? '',
    proxy: textOf(document['proxy']),
    passTrace: document['passTrace'] === true,
    timeouts: timersOf(Object(document['timeouts'])),
    headers: jsonOf(document['headers']),
    parameters: jsonOf(document['parameters']),
    retryStatuses: statusesOf(Object(document['retryStatuses'])),
    options: jsonOf(document['options']),
  }
}

function limitsOf(given: Readonly<Record<string, unknown>>): ChannelValues['limits'] {
  return {
    requestsPerMinute: textOf(given['requestsPerMinute']),
    tokensPerMinute: textOf(given['tokensPerMinute']),
  }
}

function statusesOf(given: Readonly<Record<string, unknown>>): ChannelValues['retryStatuses'] {
  const listed = (value: unknown) => (Array.isArray(value) ? value.join(', ') : '')
  return { add: listed(given['add']), remove: listed(given['remove']) }
}

/** The value if one is set, else null. */
function saidOf<Value>(entries: readonly (readonly [string, Value])[]) {
  return entries.length === 0 ? null : Object.fromEntries(entries)
}

function textOf(value: unknown): string {
  return value === null || value === undefined ? '' : String(value)
}

function jsonOf(value: unknown): string {
  return Object.keys(Object(value)).length === 0 ? '' : JSON.stringify(value, null, 2)
}

/** All fields; null means the default. Throws SyntaxError if a field's JSON is invalid. */
export function bodyOf(values: ChannelValues): Input {
  const { baseUrl, keys, models, groups } = values
  const listed = models.filter(({ name }) => name.trim() !== '')
  return {
    id: values.id.trim(),
    vendor: values.vendor,
    baseUrl: baseUrl.trim() || null,
    keys: keys
      .filter(({ key, isStored }) => isStored || key.trim() !== '')
      .map(({ name, key, disabled }) => ({
        name: name.trim(),
        // If left out, the stored secret of this name stays.
        ...(key.trim() !== '' && { key: key.trim() }),
        ...(disabled && { disabled }),
      })) as NonNullable<Input['keys']>,
    models:
      values.modelMode === 'shipped'
        ? null
        : Object.fromEntries(
            listed.map(({ name, own }) => [name.trim(), own.trim() || name.trim()]),
          ),
    groups: values.groupMode === 'all' ? null : groups,
    priority: numberOf(values.priority),
    weight: numberOf(values.weight),
    concurrency: numberOf(values.concurrency),
    limits: numbersOf(values.limits),
    costMultiplier: values.costMultiplier.trim() || null,
    tags: wordsOf(values.tags),
    note: values.note.trim() || null,
    dialect: values.dialect || null,
    proxy: values.proxy.trim() || null,
    passTrace: values.passTrace,
    timeouts: numbersOf(values.timeouts),
    headers: parsedOf(values.headers),
    parameters: parsedOf(values.parameters),
    retryStatuses: saidOf(
      Object.entries(values.retryStatuses).flatMap(([name, typed]) => {
        const list = wordsOf(typed).map(Number)
        return list.length === 0 ? [] : [[name, list] as const]
      }),
    ),
    options: parsedOf(values.options),
  }
}

function wordsOf(typed: string): string[] {
  return typed.split(/[\s,]+/).filter((word) => word !== '')
}

function parsedOf(typed: string) {
  return typed.trim() === '' ? null : JSON.parse(typed)
}

/** Only of keys that were typed. */
function numbersOf(typed: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    Object.entries(typed).flatMap(([name, text]) => {
      const value = numberOf(text)
      return value === null ? [] : [[name, value] as const]
    }),
  )
}

function numberOf(typed: string): number | null {
  return typed.trim() === '' ? null : Number(typed)
}

/** The fields of `values` that differ from `before`, as a change of the channel. */
export function changesOf(values: ChannelValues, before: ChannelValues): Shape<'ChannelChanges'> {
  const [is, was] = [bodyOf(values), bodyOf(before)]
  const changed = Object.entries(is).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(was[name as keyof Input]),
  )
  // An empty list of keys does not affect the single key that may be set beside it.
  const isBare = is.keys?.length === 0 && was.keys?.length !== 0
  return { ...Object.fromEntries(changed), ...(isBare && { key: null }) }
}

export type FormField =
  | keyof Omit<
      ChannelValues,
      'keys' | 'models' | 'groups' | 'timeouts' | 'retryStatuses' | 'limits'
    >
  | `limits.${'requestsPerMinute' | 'tokensPerMinute'}`
  | `timeouts.${(typeof timers)[number]}`
  | `retryStatuses.${'add' | 'remove'}`
  | `keys.${number}.${'name' | 'key'}`
  | `root.${'keys' | 'models' | 'groups'}`

/** The field of the form for a refusal; null: none in particular. */
export function formField(field: string, values: ChannelValues): FormField | null {
  const [first = '', second = ''] = field.replace(/\[(\d+)\]/g, '.$1').split(/[.[]/)
  const key = /^keys\[(\d+)\]\.(name|key)/.exec(field)
  if (key !== null) return `keys.${Number(key[1])}.${key[2] as 'name' | 'key'}`
  if (first === 'key') return 'root.keys'
  if (first === 'keys' || first === 'models' || first === 'groups') return `root.${first}`
  const value: unknown = Object(values)[first]
  if (typeof value !== 'object') return first in values ? (first as FormField) : null
  return second in Object(value) ? (`${first}.${second}` as FormField) : null
}
