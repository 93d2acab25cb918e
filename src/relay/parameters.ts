// Removes the parameters that a request's model refuses, replaces values that it refuses, and renames those it takes by
// another name.

import type { Candidate } from '../router/route.ts'
import type { ParameterRule, Value, Vendor } from '../vendors/vendor.ts'
import type { JsonObject, JsonValue } from '../wire/ir.ts'
import { type Member, members, parseSpan, skipSpace } from '../wire/json/scan.ts'
import type { Edit } from '../wire/json/splice.ts'
import { isObject } from '../wire/json/value.ts'
import { removals, renaming } from '../wire/json/without.ts'
import { limitMembers } from '../wire/limit-members.ts'
import type { Peek } from '../wire/request.ts'

/** The rule for a request with these members; null where it concerns none of them. */
export function ruleFor(
  vendor: Vendor,
  { dialect, model, maxOutput }: Candidate,
  { model: asked, maxOutputTokens }: Peek,
  keys: readonly string[],
): ParameterRule | null {
  const rule = vendor.quirks.parameters?.({ dialect, model, asked }) ?? null
  const own = rule !== null && concerns(rule, keys) ? rule : null
  const isOver = maxOutput !== undefined && maxOutputTokens !== null && maxOutputTokens > maxOutput
  return isOver ? limited(own ?? nothingRefused, limitMembers[dialect] ?? [], maxOutput) : own
}

function concerns(rule: ParameterRule, keys: readonly string[]): boolean {
  for (const key of rule.keys) if (keys.includes(key)) return true
  return false
}

const nothingRefused: ParameterRule = { keys: [], dropped: () => [] }

/** The rule that also lowers the token limit to what the model can write. */
function limited(rule: ParameterRule, names: readonly string[], maxOutput: number): ParameterRule {
  const lowered = (given: JsonValue | undefined): JsonValue | undefined =>
    typeof given === 'number' && given > maxOutput ? maxOutput : undefined
  return {
    ...rule,
    replaced(value) {
      const found = new Map(rule.replaced?.(value))
      for (const path of names) {
        const [member = '', inner] = path.split('.')
        const given = value(member)
        if (inner === undefined) {
          const sent = lowered(given)
          if (sent !== undefined) found.set(member, { value: sent, name: limitName })
        } else if (isObject(given)) {
          const sent = lowered(given[inner])
          if (sent !== undefined)
            found.set(member, { value: { ...given, [inner]: sent }, name: limitName })
        }
      }
      return found
    },
  }
}

/** The hub's name of the limit. */
const limitName = 'max_tokens'

/** Looks up members of the client's request. */
export function memberOf({ body }: Peek): Value {
  let found: readonly Member[] | null = null
  return (name) => {
    found ??= members(body, skipSpace(body, 0))
    const member = found.find(({ key }) => key === name)
    if (member === undefined || member.kind === 'null') return undefined
    return parseSpan(body, member.start, member.end) as JsonValue
  }
}

const nothing: readonly Edit[] = []

interface Refused {
  readonly edits: readonly Edit[]
  /** Names of the parameters that were removed or changed, to be reported to the client. */
  readonly dropped: readonly string[]
}

/** Computes the changes as edits of the client's own bytes, together with those made for other reasons. */
export function refusedIn(
  rule: ParameterRule,
  { body }: Peek,
  own: readonly Edit[] = nothing,
): Refused {
  const found = members(body, skipSpace(body, 0))
  const named = new Map(found.map((member) => [member.key, member] as const))
  const given = (name: string): Member | undefined => {
    const member = named.get(name)
    return member?.kind === 'null' ? undefined : member
  }
  const value = (name: string): JsonValue | undefined => {
    const member = given(name)
    return member && (parseSpan(body, member.start, member.end) as JsonValue)
  }
  const refused = rule.dropped(value)
  const dropped = refused.filter((name) => given(name) !== undefined)
  const gone = new Set(dropped)
  const edits: Edit[] = [...own]
  const { entry } = rule
  const list = entry === undefined ? undefined : given(entry.list)
  if (entry !== undefined && list !== undefined && refused.includes(entry.about)) {
    const isCut = cutEntry(edits, list, value(entry.list), entry.entry)
    if (isCut && !gone.has(entry.about)) dropped.push(entry.about)
  }
  for (const [from, to] of Object.entries(rule.renamed ?? {})) {
    const [member, other] = [given(from), named.get(to)]
    if (member === undefined) continue
    if (other === undefined) edits.push(renaming(member, to))
    else if (given(to) !== undefined) gone.add(from)
    else {
      // The member of that name is null.
      gone.add(to)
      edits.push(renaming(member, to))
    }
  }
  for (const [key, { value: sent, name }] of rule.replaced?.(value) ?? []) {
    const member = given(key)
    if (member === undefined || gone.has(key)) continue
    if (!dropped.includes(name)) dropped.push(name)
    if (sent === null) gone.add(key)
    else edits.push({ start: member.start, end: member.end, text: JSON.stringify(sent) })
  }
  edits.push(...removals(found, ({ key }) => gone.has(key)))
  return { edits, dropped }
}

/** The list without the entry; null where it is not in it. */
function withoutEntry(list: JsonValue | undefined, entry: string): JsonValue[] | null {
  if (!Array.isArray(list) || !list.includes(entry)) return null
  return list.filter((each) => each !== entry)
}

/** Takes the entry out of the member's list, as the client or an edit wrote it; false where it is not in it. */
function cutEntry(
  edits: Edit[],
  { start, end }: Member,
  asked: JsonValue | undefined,
  entry: string,
): boolean {
  const at = edits.findIndex((edit) => edit.start === start)
  const written = edits[at]
  const given = written === undefined ? asked : (JSON.parse(written.text) as JsonValue)
  const left = withoutEntry(given, entry)
  if (left === null) return false
  edits.splice(at < 0 ? edits.length : at, 1, { start, end, text: JSON.stringify(left) })
  return true
}

/** Makes the same changes in a parsed body; returns the names of the removed and the changed parameters. */
export function withoutRefused(rule: ParameterRule, body: JsonObject): readonly string[] {
  const given = (name: string): boolean => body[name] !== undefined && body[name] !== null
  const value = (name: string) => body[name] ?? undefined
  const refused = rule.dropped(value)
  const dropped = refused.filter(given)
  const { entry } = rule
  if (entry !== undefined && refused.includes(entry.about)) {
    const left = withoutEntry(body[entry.list], entry.entry)
    if (left !== null) body[entry.list] = left
    if (left !== null && !dropped.includes(entry.about)) dropped.push(entry.about)
  }
  const replaced = rule.replaced?.(value) ?? []
  for (const name of dropped) delete body[name]
  for (const [key, { value: sent, name }] of replaced) {
    const other = rule.renamed?.[key]
    if (other !== undefined && given(other)) continue
    if (!dropped.includes(name)) dropped.push(name)
    if (sent === null) delete body[key]
    else body[key] = sent
  }
  for (const [from, to] of Object.entries(rule.renamed ?? {})) {
    if (!given(from)) continue
    if (!given(to)) body[to] = body[from]
    delete body[from]
  }
  return dropped
}
