// Finds members that decide what a request may cost, in every vendor's spelling: limits, counts, tiers, other models.

import {
  countNames as counts,
  leastNames as leasts,
  limitNames as limits,
  modelNames as models,
  placeNames as places,
  settingsNames as settings,
  standardTiers,
  thoughtNames as thoughts,
  tierNames as tiers,
} from '../../config/priced-names.ts'
import { invalidRequest } from '../../errors.ts'
import { type Place, placeOf } from '../json/names.ts'
import { type Member, members } from '../json/scan.ts'
import type { Body } from './body.ts'
import { integer, numberOf, type Rule, stringOf } from './rules.ts'

type Role =
  | 'limit'
  | 'least'
  | 'thought'
  | 'count'
  | 'settings'
  | 'model'
  | 'tier'
  | 'place'
  | 'top'

const roles: ReadonlyMap<string, Role> = new Map([
  ...roleOf('limit', limits),
  ...roleOf('least', leasts),
  ...roleOf('thought', thoughts),
  ...roleOf('count', counts),
  ...roleOf('settings', settings),
  ...roleOf('model', models),
  ...roleOf('tier', tiers),
  ...roleOf('place', places),
  ...roleOf('top', ['model', 'stream']),
])

function roleOf(role: Role, names: readonly string[]): [string, Role][] {
  return names.map((name) => [name, role])
}

const common = [...roles.keys()]
const settingsPlace = placeOf(common)
const nestedPlace = placeOf(
  common,
  Object.fromEntries(settings.map((name) => [name, settingsPlace])),
)

/** All names with a meaning in a request whose fields `rules` check; `others` have no rule. */
export function requestPlace(rules: ReadonlyMap<string, Rule>, others: readonly string[]): Place {
  return placeOf([...common, ...rules.keys(), ...others], {
    stream_options: placeOf(['include_usage', 'include_obfuscation']),
    reasoning: placeOf(['effort', 'max_tokens', 'summary', 'exclude', 'enabled', 'mode']),
    thinking: placeOf(['type', 'budget_tokens', 'display']),
    response_format: placeOf(['type', 'json_schema']),
    text: placeOf(['format', 'verbosity']),
    output_config: placeOf(['effort', 'format']),
    ...Object.fromEntries(settings.map((name) => [name, nestedPlace])),
  })
}

/** Limits of a reply, taken over all spellings that some vendor reads. */
interface Bounds {
  /** Null: the request has no limit that every vendor reads. */
  readonly maxOutputTokens: number | null
  /** Output tokens to allow for where `maxOutputTokens` is null. */
  readonly leastOutputTokens: number
  readonly choices: number
}

/** The format's own names of these members; the first one is the newest. */
export interface OwnNames {
  readonly limits: readonly string[]
  readonly counts: readonly string[]
}

/**
 * The format's own limits must agree: vendors read one or the other, and OpenAI refuses both at once. Other
 * spellings, which some vendors read, count where they ask for more. A limit of 0 counts as none, as vendors that
 * accept it treat it. A tier with a price of its own is left in `body.unwanted`. Throws GatewayError naming the
 * member.
 */
export function boundsOf(body: Body, own: OwnNames): Bounds {
  const found = { own: null, ownName: '', other: 0, least: 0, thought: 0, choices: 1 }
  collect(body, body.members, own, '', found)
  const { own: limit, other, least, thought, choices } = found
  const asked = limit === 0 ? null : limit
  return {
    maxOutputTokens: asked === null ? null : Math.max(asked, other),
    leastOutputTokens: Math.max(
      other,
      least,
      thought === 0 ? 0 : thought + Math.max(asked ?? 0, other),
    ),
    choices,
  }
}

interface Collected {
  own: number | null
  ownName: string
  /** The largest limit, and the largest minimum length, in a spelling other than the format's own. */
  other: number
  least: number
  thought: number
  choices: number
}

function collect(
  body: Body,
  list: readonly Member[],
  own: OwnNames,
  path: string,
  found: Collected,
): void {
  const { bytes } = body
  for (const member of list) {
    const role = roles.get(member.key)
    if (role === undefined || member.kind === 'null' || (role === 'top' && path === '')) continue
    if (path === '' && own.limits.includes(member.key)) takeOwn(bytes, member, own, found)
    else if (path === '' && own.counts.includes(member.key))
      found.choices = Math.max(found.choices, numberOf(bytes, member.start, member.end))
    else if (role === 'tier' && path === '') {
      if (!isStandardTier(bytes, member)) body.unwanted = member.key
    } else takeOther(bytes, member, role, path + member.key, found)
    if (role === 'settings' && member.kind === 'object')
      collect(body, members(bytes, member.start), own, `${path}${member.key}.`, found)
  }
}

/** Its rule was checked before. */
function takeOwn(bytes: Uint8Array, member: Member, own: OwnNames, found: Collected): void {
  const value = numberOf(bytes, member.start, member.end)
  if (found.own !== null && found.own !== value) {
    const [newest = ''] = own.limits
    const older = member.key === newest ? found.ownName : member.key
    throw invalidRequest(`${older} must not differ from ${newest}: give one of them`, older)
  }
  found.own = value
  found.ownName = member.key
}

const positive = integer(1)
const notNegative = integer(0)
/** -1 means as much as the model likes. */
const budget = integer(-1)
const few = integer(1, 128)

function takeOther(
  bytes: Uint8Array,
  { start, end, kind }: Member,
  role: Role,
  path: string,
  found: Collected,
): void {
  const value = (rule: Rule): number => {
    const complaint = rule(bytes, start, end, kind)
    if (complaint !== null) throw invalidRequest(`${path} ${complaint}`, path)
    return numberOf(bytes, start, end)
  }
  if (role === 'limit') found.other = Math.max(found.other, value(positive))
  else if (role === 'least') found.least = Math.max(found.least, value(notNegative))
  else if (role === 'thought') found.thought = Math.max(found.thought, value(budget))
  else if (role === 'count') found.choices = Math.max(found.choices, value(few))
  else if (role === 'model')
    throw invalidRequest(`${path} is not offered: a request names one model in \`model\``, path)
  else if (role === 'place') checkPlace(bytes, { start, end, kind }, path)
  else if (role !== 'settings')
    throw invalidRequest(`${path} must be at the top level of the request`, path)
}

export function isStandardTier(bytes: Uint8Array, { start, end, kind }: Member): boolean {
  return kind === 'string' && standardTiers.has(stringOf(bytes, start, end).toLowerCase())
}

/** Refuses a place of processing other than `global`, instead of dropping it silently. */
function checkPlace(
  bytes: Uint8Array,
  { start, end, kind }: Pick<Member, 'start' | 'end' | 'kind'>,
  path: string,
): void {
  if (kind === 'string' && stringOf(bytes, start, end) === 'global') return
  throw invalidRequest(`${path} must be global: other regions have different prices`, path)
}
