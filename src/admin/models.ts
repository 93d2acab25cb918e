// The models of a group, with prices, abilities and recent performance.

import { keepsToSchema, takesTools } from '../catalog/abilities.ts'
import type { Model } from '../catalog/model.ts'
import type { ModelKind } from '../config/types.ts'
import { multiplierOf } from '../meter/multipliers.ts'
import { createPriceBook } from '../meter/price-book.ts'
import { anyoneOf } from '../operations/model-access.ts'
import type { PriceRow } from '../store/ledger.ts'
import { endpointOf, type Operation } from '../wire/formats.ts'
import type { Live } from './model-live.ts'
import { type GroupPrice, groupPrice } from './model-price.ts'
import { groupFor, type Offer, type Viewer } from './offer.ts'
import { type Page, pageOf } from './page.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import { AdminError } from './use-case.ts'

type Modality = 'text' | 'image' | 'audio' | 'video'

export interface ModelView {
  readonly id: string
  readonly kind: ModelKind
  /** The vendor that made the model, whichever channel serves it. */
  readonly vendor: string
  /** Context window in tokens; null where it is unknown. */
  readonly context: number | null
  readonly maxOutput: number | null
  readonly inputs: readonly Modality[]
  readonly outputs: readonly Modality[]
  readonly vision: boolean
  /** null: unknown. */
  readonly tools: true | null
  readonly reasoning: true | null
  /** Whether it can answer in JSON that follows a schema (`response_format`). */
  readonly jsonSchema: true | null
  /** Paths at which it can be asked. */
  readonly endpoints: readonly string[]
  /** When this deployment first had a price for it. */
  readonly since: string
  readonly group: string
  readonly currency: string
  readonly price: GroupPrice
  /** The viewer's groups that have the model, and those of them that the viewer has keys of. */
  readonly groups: readonly string[]
  readonly keyGroups: readonly string[]
  /** Figures of the last 24 hours; null where there were no requests. */
  readonly live: Live | null
}

/** Sorted as asked, then by name. Throws AdminError `not_found` for a group the viewer may not see. */
export function listModels(
  offer: Offer,
  viewer: Viewer,
  { sort, limit, cursor, ...filter }: Input<'listModels'>,
): Page<ModelView> {
  const group = groupFor(viewer, filter.group)
  const found = viewsOf(offer, viewer, group).filter((view) => fits(view, filter))
  return pageOf(found, placesBy[sort], { limit, cursor })
}

/** The filter choices for a group's models. */
interface ModelChoices {
  readonly kinds: readonly ModelKind[]
  readonly vendors: readonly string[]
  readonly endpoints: readonly string[]
}

/** Sorted. Throws AdminError `not_found` for a group the viewer may not see. */
export function modelChoices(
  offer: Offer,
  viewer: Viewer,
  input: Input<'modelChoices'>,
): ModelChoices {
  const views = viewsOf(offer, viewer, groupFor(viewer, input.group))
  return {
    kinds: [...new Set(views.map(({ kind }) => kind))].sort(),
    vendors: [...new Set(views.map(({ vendor }) => vendor))].sort(),
    endpoints: [...new Set(views.flatMap(({ endpoints }) => endpoints))].sort(),
  }
}

export function showModel(offer: Offer, viewer: Viewer, input: Input<'showModel'>): ModelView {
  const group = groupFor(viewer, input.group)
  const model = offer.modelAccess.model(anyoneOf(group), input.model)
  const view = model && viewIn(offer, viewer, group, groupsWith(offer, viewer))(model)
  if (view !== null) return view
  const name = JSON.stringify(input.model)
  throw new AdminError('not_found', 'model', `there is no model ${name} in ${group}`)
}

function viewsOf(offer: Offer, viewer: Viewer, group: string): ModelView[] {
  const view = viewIn(offer, viewer, group, groupsListing(offer, viewer))
  return offer.modelAccess.models(anyoneOf(group)).flatMap((model) => view(model) ?? [])
}

/** Compares whole model lists, since most groups share one. */
function groupsListing({ modelAccess }: Offer, { groups }: Viewer) {
  const lists = Map.groupBy(groups, (id) => modelAccess.models(anyoneOf(id)))
  const having = new Map<string, string[][]>()
  for (const [models, alike] of lists) {
    for (const { id } of models) {
      const known = having.get(id)
      if (known === undefined) having.set(id, [alike])
      else known.push(alike)
    }
  }
  const places = new Map(groups.map((id, at) => [id, at]))
  const inOrder = (one: string, other: string) => (places.get(one) ?? 0) - (places.get(other) ?? 0)
  return (name: string): readonly string[] => {
    const [first = [], ...others] = having.get(name) ?? []
    return others.length === 0 ? first : [first, ...others].flat().sort(inOrder)
  }
}

/** Covers also names that no list contains, such as those that match a channel's pattern. */
function groupsWith({ modelAccess }: Offer, { groups }: Viewer) {
  return (name: string) => groups.filter((id) => modelAccess.model(anyoneOf(id), name) !== null)
}

function viewIn(
  offer: Offer,
  viewer: Viewer,
  group: string,
  having: (name: string) => readonly string[],
): (model: Model) => ModelView | null {
  const { config, modelAccess, book, rows } = offer
  const nowMs = Date.now()
  const { byVersion, official, firstAt } = readRows(rows)
  const settings = config.groups[group]
  return (model) => {
    const priced = modelAccess.pricedAs(anyoneOf(group), model.id)
    const row = byVersion.get(book.find(priced, nowMs, 1_000_000)?.version ?? 0)
    if (row === undefined || settings === undefined) return null
    const groups = having(model.id)
    return {
      ...abilities(model, row),
      since: timeText(firstAt.get(row.model) ?? row.createdAt),
      group,
      currency: config.currency,
      price: groupPrice(
        row,
        multiplierOf(settings, model.id),
        official(priced, nowMs)?.prices ?? null,
      ),
      groups,
      keyGroups: viewer.keyGroups.filter((id) => groups.includes(id)),
      live: offer.live.get(model.id) ?? null,
    }
  }
}

const readings = new WeakMap<readonly PriceRow[], ReturnType<typeof readAnew>>()

/** Reads the rows once for as long as they are unchanged: anyone may ask, and often. */
function readRows(rows: readonly PriceRow[]) {
  const known = readings.get(rows)
  if (known !== undefined) return known
  const made = readAnew(rows)
  readings.set(rows, made)
  return made
}

function readAnew(rows: readonly PriceRow[]) {
  const byVersion = new Map(rows.map((row) => [row.version, row]))
  const book = createPriceBook(rows.filter(({ origin }) => origin === 'shipped'))
  const firstAt = new Map<string, number>()
  for (const { model, createdAt } of rows) {
    if (!firstAt.has(model)) firstAt.set(model, createdAt)
  }
  return {
    byVersion,
    /** The published price. */
    official: (model: string, atMs: number) =>
      byVersion.get(book.find(model, atMs, 1_000_000)?.version ?? 0),
    /** When a model first had a price. */
    firstAt,
  }
}

/** Input and output by kind; what else a chat takes, such as images, follows from its prices and the catalogue. */
const modalities: Readonly<Record<ModelKind, readonly [string, string]>> = {
  chat: ['text', 'text'],
  completion: ['text', 'text'],
  embedding: ['text', ''],
  rerank: ['text', ''],
  moderation: ['text', ''],
  image: ['text', 'image'],
  transcription: ['audio', 'text'],
  translation: ['audio', 'text'],
  speech: ['text', 'audio'],
  video: ['text', 'video'],
  realtime: ['text audio', 'text audio'],
}

/** Paths besides the kind's own: every chat vendor is reachable from all chat formats. */
const alsoAsked: Partial<Record<Operation, readonly string[]>> = {
  chat: [
    '/v1/responses',
    '/v1/messages',
    '/v1beta/models/{model}:generateContent',
    '/v1/completions',
  ],
  embedding: ['/v1beta/models/{model}:embedContent'],
}

function abilities(model: Model, { prices }: PriceRow) {
  const { id, kind, also, context, maxOutput, vision, reasoning, ownedBy } = model
  const [input, output] = modalities[kind]
  const hears = kind === 'chat' && 'audioInput' in prices
  const speaks = kind === 'chat' && 'audioOutput' in prices
  const draws = kind === 'chat' && ('imageOutput' in prices || also.includes('image'))
  const kinds: readonly Operation[] = [kind, ...also]
  return {
    id,
    kind,
    vendor: ownedBy,
    context,
    maxOutput,
    inputs: words(input, vision && 'image', hears && 'audio'),
    outputs: words(output, draws && 'image', speaks && 'audio'),
    vision,
    tools: kind === 'chat' || kind === 'realtime' ? takesTools(id) : null,
    reasoning,
    jsonSchema: kind === 'chat' ? keepsToSchema(id) : null,
    endpoints: [
      ...new Set(kinds.flatMap((each) => [endpointOf[each], ...(alsoAsked[each] ?? [])])),
    ],
  }
}

function words(usual: string, ...more: readonly (Modality | false)[]): readonly Modality[] {
  const all = [...usual.split(' ').filter((word) => word !== ''), ...more.filter(Boolean)]
  return [...new Set(all as Modality[])]
}

type Filter = Omit<Input<'listModels'>, 'sort' | 'limit' | 'cursor' | 'group'>

function fits(view: ModelView, filter: Filter): boolean {
  const { search, kind, vendor, modality, context, endpoint } = filter
  const { tools, vision, reasoning, jsonSchema } = filter
  const text = `${view.id} ${view.vendor}`.toLowerCase()
  return (
    (search === undefined || text.includes(search.toLowerCase())) &&
    (kind === undefined || view.kind === kind) &&
    (vendor === undefined || view.vendor === vendor.toLowerCase()) &&
    (modality === undefined || view.inputs.includes(modality)) &&
    (context === undefined || (view.context !== null && view.context >= context)) &&
    (endpoint === undefined || view.endpoints.includes(endpoint)) &&
    (tools === undefined || (view.tools === true) === tools) &&
    (vision === undefined || view.vision === vision) &&
    (reasoning === undefined || (view.reasoning === true) === reasoning) &&
    (jsonSchema === undefined || (view.jsonSchema === true) === jsonSchema)
  )
}

/** Sort keys as text that sorts in the right order; the name at the end breaks ties. */
const placesBy: Readonly<Record<Input<'listModels'>['sort'], (view: ModelView) => string>> = {
  name: ({ id }) => id,
  price: (view) => `${cheapestFirst(view, 'input')} ${view.id}`,
  outputPrice: (view) => `${cheapestFirst(view, 'output')} ${view.id}`,
  newest: ({ since, id }) => `${padded(most - BigInt(Date.parse(since)))} ${id}`,
  latency: ({ live, id }) => `${padded(BigInt(live?.ttft?.p50Ms ?? most))} ${id}`,
  throughput: ({ live, id }) => {
    const tenths = Math.round((live?.speed?.tokensPerSecond ?? 0) * 10)
    return `${padded(most - BigInt(tenths))} ${id}`
  },
}

const most = 10n ** 20n - 1n

/** Sorts by token price; models without one follow, by their first price. */
function cheapestFirst({ price }: ModelView, token: 'input' | 'output'): string {
  const own = price.lines.find(({ name }) => name === token)
  const first = own ?? price.lines[0]
  return `${own === undefined ? 1 : 0}${padded(BigInt(first?.priceNano ?? 0))}`
}

function padded(number: bigint): string {
  return String(number).padStart(20, '0')
}
