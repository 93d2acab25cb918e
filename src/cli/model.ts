// `tollgate model`: the models offered to a group, and their prices.

import { readInput } from '../admin/input.ts'
import type { ModelView } from '../admin/models.ts'
import type { Offer, Viewer } from '../admin/offer.ts'
import type { AdminContext } from '../admin/use-case.ts'
import { formatUnits } from '../money.ts'
import type { Command, Context, Option } from './command.ts'
import { print, printJson, table } from './output.ts'
import { loadWithChannels, withStore } from './settings.ts'

const group: Option = {
  type: 'string',
  value: 'GROUP',
  help: 'whose models and prices; by default the group `default`',
}

export const modelList: Command = {
  name: 'model list',
  words: [],
  summary: "list the models a group may use, with the group's prices per million units",
  options: {
    group,
    search: { type: 'string', value: 'TEXT', help: 'part of the name or the vendor' },
    kind: { type: 'string', value: 'KIND', help: 'only of this kind: chat, image, ...' },
    vendor: { type: 'string', value: 'NAME', help: 'only of this family: openai, anthropic, ...' },
    modality: {
      type: 'string',
      value: 'NAME',
      help: 'only models that accept text, image, audio or video',
    },
    context: {
      type: 'string',
      value: 'N',
      help: 'only with a context window of at least this many tokens',
    },
    tools: { type: 'boolean', help: 'only models known to support tools' },
    vision: { type: 'boolean', help: 'only models that accept images' },
    reasoning: { type: 'boolean', help: 'only models known to reason' },
    'json-schema': { type: 'boolean', help: 'only models known to support JSON schemas' },
    endpoint: {
      type: 'string',
      value: 'PATH',
      help: 'only models of this endpoint: /v1/messages, ...',
    },
    sort: {
      type: 'string',
      value: 'BY',
      help: 'name, price, outputPrice, newest, latency or throughput; name by default',
    },
  },
  async run(context) {
    const { flags } = context
    const { listModels } = await import('../admin/models.ts')
    const texts = ['group', 'search', 'kind', 'vendor', 'modality', 'endpoint', 'sort'] as const
    const input = await readInput('listModels', {
      ...Object.fromEntries(texts.map((name) => [name, flags.text(name)])),
      context: flags.number('context'),
      tools: flags.has('tools') || undefined,
      vision: flags.has('vision') || undefined,
      reasoning: flags.has('reasoning') || undefined,
      jsonSchema: flags.has('json-schema') || undefined,
    })
    const { items } = await offered(context, (offer, viewer) => listModels(offer, viewer, input))
    if (context.json) await printJson(items)
    else await print(table(['MODEL', 'KIND', 'VENDOR', 'CONTEXT', 'PRICES'], items.map(cells)))
    return undefined
  },
}

export const modelShow: Command = {
  name: 'model show',
  words: ['MODEL'],
  summary: "show a model's capabilities and a group's prices",
  options: { group },
  fields: { model: 'MODEL' },
  async run(context) {
    const { showModel } = await import('../admin/models.ts')
    const model = context.words[0]
    const input = await readInput('showModel', { model, group: context.flags.text('group') })
    const view = await offered(context, (offer, viewer) => showModel(offer, viewer, input))
    if (context.json) await printJson(view)
    else await print(describe(view))
    return undefined
  },
}

/** Runs a use case on what is offered by the configuration and the store's prices. */
export async function offered<Result>(
  context: Context,
  useCase: (offer: Offer, viewer: Viewer, admin: AdminContext) => Result | Promise<Result>,
): Promise<Result> {
  const { adminViewer, offerOf } = await import('../admin/offer.ts')
  const { readLive } = await import('../admin/model-live.ts')
  const config = await loadWithChannels(context)
  return withStore(context, async (admin) => {
    const { store, nowMs } = admin
    const live = await readLive(store.rollups, nowMs)
    const offer = offerOf(config, await store.prices.all(), live)
    return useCase(offer, adminViewer(config, 'default'), admin)
  })
}

function cells({ id, kind, vendor, context, price }: ModelView) {
  return [id, kind, vendor, context, price.lines.map(lineText).join(', ')]
}

function lineText({ name, priceNano }: ModelView['price']['lines'][number]): string {
  return `${name} ${formatUnits(BigInt(priceNano))}`
}

function describe(view: ModelView): string {
  const { price, currency } = view
  const amount = (nano: string | null) => (nano === null ? null : formatUnits(BigInt(nano)))
  const facts = [
    `${view.id}: ${view.kind}, ${view.vendor}`,
    `  takes     ${view.inputs.join(', ')}`,
    `  gives     ${view.outputs.join(', ') || '-'}`,
    `  context   ${view.context ?? 'not known'}`,
    `  output    ${view.maxOutput ?? 'not known'}`,
    `  tools     ${known(view.tools)}`,
    `  reasoning ${known(view.reasoning)}`,
    `  schemas   ${known(view.jsonSchema)}`,
    `  endpoints ${view.endpoints.join(', ')}`,
    `  groups    ${view.groups.join(', ')}`,
    `  last day  ${lately(view.live)}`,
    `  prices    of ${view.group}, in ${currency} for a million; version ${price.version}, times ${price.multiplier}\n`,
  ]
  const lines = price.lines.map(({ name, priceNano, baseNano, officialNano }) => [
    name,
    amount(priceNano),
    amount(baseNano),
    amount(officialNano),
  ])
  return `${facts.join('\n')}\n${table(['NAME', 'PRICE', 'BASE', 'OFFICIAL'], lines)}`
}

function known(ability: true | null): string {
  return ability ? 'yes' : 'not known'
}

function lately(live: ModelView['live']): string {
  const { ttft, speed, success } = live ?? { ttft: null, speed: null, success: null }
  const parts = [
    ttft && `first word after ${ttft.p50Ms} ms (p95 ${ttft.p95Ms}) of ${ttft.sample}`,
    speed && `${speed.tokensPerSecond} tokens a second`,
    success && `${success.percent} % of ${success.sample} answered`,
  ].filter((part) => part !== null)
  return parts.join(', ') || 'fewer than 30 requests'
}
