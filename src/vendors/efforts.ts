// Gives a model the nearest of the efforts it takes, and none where it takes none.

import type { VendorDialectId } from '../wire/formats.ts'
import { isObject } from '../wire/json/value.ts'
import type { NamedCall, ParameterRule, Replacement, Value } from './vendor.ts'

/** From the least to the most. */
const order = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** `default` is the word of some hosts for a model that either thinks or does not. */
function rank(effort: string): number {
  return order.indexOf(effort === 'default' ? 'medium' : effort)
}

/** Of two that are equally near the greater; null where the model takes none. A word that is not known stays. */
export function nearestEffort(asked: string, efforts: readonly string[]): string | null {
  const wanted = rank(asked)
  if (wanted < 0 || efforts.includes(asked)) return asked
  const distance = (effort: string) => Math.abs(rank(effort) - wanted)
  const [nearest = null] = [...efforts].sort(
    (one, other) => distance(one) - distance(other) || rank(other) - rank(one),
  )
  return nearest
}

/** Also the hub's name of the effort. */
const effortName = 'reasoning_effort'

const nothing: readonly string[] = []
const kept: ReadonlyMap<string, Replacement> = new Map()

/** The member of a request that has its effort. */
export function effortMember(dialect: VendorDialectId): string {
  return dialect === 'openai-responses' ? 'reasoning' : effortName
}

/** What is sent in place of the member with an effort that the model does not take; null: it may stay. */
export function replacedEffort(
  dialect: VendorDialectId,
  efforts: readonly string[],
  value: Value,
): Replacement | null {
  const member = value(effortMember(dialect))
  const effort = isObject(member) ? member.effort : member
  if (typeof effort !== 'string') return null
  const sent = nearestEffort(effort, efforts)
  if (sent === effort) return null
  if (!isObject(member)) return { value: sent, name: effortName }
  const { effort: _, ...rest } = member
  return { value: sent === null ? rest : { ...rest, effort: sent }, name: effortName }
}

/** The same as the members to replace. */
export function replacing(
  dialect: VendorDialectId,
  efforts: readonly string[],
  value: Value,
): ReadonlyMap<string, Replacement> {
  const found = replacedEffort(dialect, efforts, value)
  return found === null ? kept : new Map([[effortMember(dialect), found]])
}

/** Models that take the same efforts. */
interface Thinkers {
  readonly name: RegExp
  /** Empty: they refuse any. */
  readonly efforts: readonly string[]
  /** Members of chats that they refuse whatever their value. */
  readonly refused?: readonly string[]
}

function ruleOf(dialect: VendorDialectId, { efforts, refused = nothing }: Thinkers): ParameterRule {
  const member = effortMember(dialect)
  const gone = dialect === 'openai-chat' ? refused : nothing
  return {
    keys: [member, ...gone],
    dropped: () => gone,
    replaced: (value) => replacing(dialect, efforts, value),
  }
}

/** The rules of a vendor's models for chats and Responses; of several rows that name a model the first counts. */
export function thinking(...rows: readonly Thinkers[]): (call: NamedCall) => ParameterRule | null {
  const known = rows.map((row) => ({
    name: row.name,
    'openai-chat': ruleOf('openai-chat', row),
    'openai-responses': ruleOf('openai-responses', row),
  }))
  return ({ dialect, model }) => {
    if (dialect !== 'openai-chat' && dialect !== 'openai-responses') return null
    return known.find(({ name }) => name.test(model))?.[dialect] ?? null
  }
}
