// Converts a configuration of LiteLLM's proxy into channels and models. The members of its `model_list` are those of
// https://docs.litellm.ai/docs/proxy/configs and /docs/routing.

import type { Problem } from '../config/problems.ts'
import { vendors } from '../vendors/registry.ts'
import type { JsonObject, JsonValue } from '../wire/ir.ts'
import { isObject } from '../wire/json/value.ts'
import { type Found, textOf, vendorOf } from './litellm-vendors.ts'

type Channel = JsonObject & { readonly vendor: string }

interface Deployment {
  /** The model's public name. */
  readonly name: string
  /** The vendor's name of it. */
  readonly model: string
  readonly channel: Channel
  readonly prices: Record<string, string>
}

interface Converted {
  readonly config: JsonObject
  /** What is not in `config`, and why. */
  readonly left: readonly Problem[]
}

/** null: the value is no configuration of LiteLLM's proxy. */
export function fromLitellm(value: unknown): Converted | null {
  if (!isObject(value) || !Array.isArray(value['model_list'])) return null
  const { model_list: list, ...sections } = value
  const left: Problem[] = []
  const entries = list as JsonValue[]
  const weightTimes = entries.every(hasWholeWeight) ? 1 : 1_000
  const deployments = entries.flatMap((entry, place) =>
    deploymentOf(entry, `model_list[${place}]`, { left, weightTimes }),
  )
  const drafts = draftsOf(deployments)
  addAliases(drafts, sections['router_settings'], left)
  const models = pricesOf(deployments, left)
  noteSections(sections, left)
  return {
    config: {
      channels: channelsOf(drafts),
      ...(Object.keys(models).length > 0 && { models }),
    },
    left,
  }
}

/** LiteLLM's weights are often shares, such as 0.9 and 0.1; here they are whole numbers. */
function hasWholeWeight(entry: JsonValue): boolean {
  const { weight = 0 } = objectOf(objectOf(entry)['litellm_params'])
  return typeof weight !== 'number' || Number.isInteger(weight)
}

interface Reading {
  readonly left: Problem[]
  readonly weightTimes: number
}

function deploymentOf(
  entry: JsonValue,
  path: string,
  { left, weightTimes }: Reading,
): Deployment[] {
  const { model_name: name, litellm_params: given, model_info: info } = objectOf(entry)
  const params = objectOf(given)
  if (typeof name !== 'string' || typeof params['model'] !== 'string') {
    left.push({ path, message: 'has no model_name, or no litellm_params.model' })
    return []
  }
  const found = vendorOf(params)
  if (typeof found === 'string') {
    left.push({ path: `${path}.litellm_params.model`, message: found })
    return []
  }
  const known = new Set([...found.used, ...settings.map(({ from }) => from), ...ignored])
  for (const [field, each] of Object.entries(params)) {
    if (known.has(field) || priceNames.has(field) || each === null) continue
    left.push({ path: `${path}.litellm_params.${field}`, message: otherParameter })
  }
  const prices = { ...perMillion(objectOf(info)), ...perMillion(params) }
  const channel = { ...found.channel, ...keyOf(found, params), ...settingsOf(params, weightTimes) }
  return [{ name, model: found.model, channel, prices }]
}

const otherParameter =
  'is not carried over; `parameters` of a channel sets, removes and defaults fields of requests'

const ignored = ['model', 'api_key', 'custom_llm_provider', 'drop_params', 'mock_response']

function objectOf(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {}
}

/** Without a key LiteLLM reads the vendor's usual variable. */
function keyOf({ channel, key }: Found, params: JsonObject): JsonObject {
  const given = key ?? textOf(params['api_key'])
  if (given !== undefined) return { key: given }
  const variable = vendors[channel.vendor]?.environment
  return variable === undefined ? {} : { key: `\${${variable}}` }
}

const settings: readonly { readonly from: string; readonly to: string; readonly times?: number }[] =
  [
    { from: 'rpm', to: 'limits.requestsPerMinute' },
    { from: 'tpm', to: 'limits.tokensPerMinute' },
    { from: 'max_parallel_requests', to: 'concurrency' },
    { from: 'weight', to: 'weight' },
    { from: 'order', to: 'priority' },
    // LiteLLM's are seconds.
    { from: 'timeout', to: 'timeouts.replyMs', times: 1000 },
    { from: 'stream_timeout', to: 'timeouts.firstEventMs', times: 1000 },
    { from: 'tags', to: 'tags' },
    { from: 'extra_headers', to: 'headers' },
  ]

function settingsOf(params: JsonObject, weightTimes: number): JsonObject {
  const made: JsonObject = {}
  for (const { from, to, times = from === 'weight' ? weightTimes : 1 } of settings) {
    const value = params[from]
    if (value === undefined || value === null) continue
    const [section = '', field] = to.split('.')
    const written = typeof value === 'number' ? Math.round(value * times) : writtenOf(value)
    if (field === undefined) made[section] = written
    else made[section] = { ...objectOf(made[section]), [field]: written }
  }
  return made
}

/** Texts with their variables, and names of headers in lower case. */
function writtenOf(value: JsonValue): JsonValue {
  if (!isObject(value)) return typeof value === 'string' ? (textOf(value) ?? value) : value
  return Object.fromEntries(
    Object.entries(value).map(([name, text]) => [name.toLowerCase(), textOf(text) ?? text]),
  )
}

/** Prices by LiteLLM's names, which are for one unit. */
const priceNames: ReadonlyMap<string, string> = new Map([
  ['input_cost_per_token', 'input'],
  ['output_cost_per_token', 'output'],
  ['cache_read_input_token_cost', 'cachedInput'],
  ['cache_creation_input_token_cost', 'cacheWrite'],
  ['output_cost_per_reasoning_token', 'reasoning'],
  ['input_cost_per_audio_token', 'audioInput'],
  ['output_cost_per_audio_token', 'audioOutput'],
])

function perMillion(fields: JsonObject): Record<string, string> {
  const prices: Record<string, string> = {}
  for (const [from, to] of priceNames) {
    const price = timesMillion(String(fields[from] ?? ''))
    if (price !== null) prices[to] = price
  }
  return prices
}

/** Moves the decimal point, because a product of numbers would be inexact. null: the text is no decimal. */
function timesMillion(text: string): string | null {
  const [, whole = '', part = '', power = '0'] =
    /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,2}))?$/.exec(text) ?? []
  if (whole === '') return null
  const point = whole.length + Number(power) + 6
  const digits = `${whole}${part}`.padStart(whole.length + part.length - Math.min(0, point), '0')
  const at = Math.max(0, point)
  const padded = digits.padEnd(at, '0')
  const units = padded.slice(0, at).replace(/^0+(?=\d)/, '') || '0'
  const rest = padded.slice(at).replace(/0+$/, '')
  return rest === '' ? units : `${units}.${rest}`
}

interface ChannelDraft {
  /** The channel as text, by which deployments find it. */
  readonly text: string
  readonly channel: Channel
  readonly models: Map<string, string>
}

/** Deployments of one account at a vendor share a channel, unless they have limits of their own, or a name in common. */
function draftsOf(deployments: readonly Deployment[]): ChannelDraft[] {
  const drafts: ChannelDraft[] = []
  for (const { name, model, channel } of deployments) {
    const text = JSON.stringify(channel)
    const hasOwnLimits = 'limits' in channel || 'concurrency' in channel
    const found = drafts.find(
      (each) => !hasOwnLimits && each.text === text && !each.models.has(name),
    )
    if (found === undefined) drafts.push({ text, channel, models: new Map([[name, model]]) })
    else found.models.set(name, model)
  }
  return drafts
}

/** As the configuration has them; of one vendor's the second is `openai-2`. */
function channelsOf(drafts: readonly ChannelDraft[]): JsonObject[] {
  const counts = new Map<string, number>()
  return drafts.map(({ channel, models }) => {
    const count = (counts.get(channel.vendor) ?? 0) + 1
    counts.set(channel.vendor, count)
    const id = count === 1 ? channel.vendor : `${channel.vendor}-${count}`
    return { id, ...channel, models: shortest(models) }
  })
}

/** `model_group_alias`: further public names. */
function addAliases(
  drafts: readonly ChannelDraft[],
  router: JsonValue | undefined,
  left: Problem[],
): void {
  for (const [alias, target] of Object.entries(objectOf(objectOf(router)['model_group_alias']))) {
    const name = isObject(target) ? target['model'] : target
    const serving = drafts.filter(({ models }) => typeof name === 'string' && models.has(name))
    for (const { models } of serving) models.set(alias, models.get(name as string) ?? '')
    if (serving.length > 0) continue
    const path = `router_settings.model_group_alias.${alias}`
    left.push({ path, message: 'names no model of this file' })
  }
}

function pricesOf(deployments: readonly Deployment[], left: Problem[]): JsonObject {
  const models = new Map<string, { prices: Record<string, string> }>()
  for (const { name, prices } of deployments) {
    if (Object.keys(prices).length === 0) continue
    const before = models.get(name)
    if (before === undefined) models.set(name, { prices })
    else if (JSON.stringify(before.prices) !== JSON.stringify(prices)) {
      const message = 'has deployments at different prices; those of the first one are used'
      left.push({ path: `model_name ${name}`, message })
    }
  }
  return Object.fromEntries(models)
}

/** A list of names where the vendor's names are the same. */
function shortest(models: ReadonlyMap<string, string>): JsonValue {
  const isSame = [...models].every(([name, model]) => name === model)
  return isSame ? [...models.keys()] : Object.fromEntries(models)
}

const reasons: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'general_settings.master_key':
      'is not carried over: create keys with `tollgate key create`, or declare this one in `keys` if clients use it',
    'general_settings.database_url':
      'is not carried over: Tollgate needs a database of its own (`databaseUrl`)',
    'litellm_settings.drop_params': 'is not needed: fields that a model refuses are left out',
    'litellm_settings.cache': 'is not carried over: replies are not cached',
    'litellm_settings.fallbacks':
      'is not carried over: another channel of the same model follows, not another model',
    'router_settings.fallbacks':
      'is not carried over: another channel of the same model follows, not another model',
    'router_settings.redis_host': 'is not carried over: `valkeyUrl` shares limits between nodes',
    'router_settings.routing_strategy':
      'is not carried over: channels are tried by priority, then by weight',
  }),
)

function noteSections(sections: JsonObject, left: Problem[]): void {
  for (const [section, content] of Object.entries(sections)) {
    const fields = isObject(content) ? Object.keys(content).map((name) => `.${name}`) : ['']
    for (const field of fields) {
      const path = `${section}${field}`
      if (path === 'router_settings.model_group_alias') continue
      left.push({ path, message: reasons.get(path) ?? 'is not carried over' })
    }
  }
}
