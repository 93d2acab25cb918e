// Builds the catalogue: the shipped models, with the operator's declarations replacing single fields.

import { Beginnings, isPattern } from '../config/beginnings.ts'
import type { ModelConfig, ModelKind } from '../config/types.ts'
import { ownerOf } from './family.ts'
import type { Catalog, Model } from './model.ts'
import type { ShippedModel, ShippedModels } from './shipped.ts'
import { shippedModels } from './shipped-models.ts'

/** Vendors do not publish a date for every model, so all have the day on which the data was gathered. */
const createdAt = Date.UTC(2026, 10, 21) / 1000

/**
 * Built once per configuration; `declared`: `models` of the configuration. `servedBy`: the owner (lower case) of a
 * declared model that is not shipped, from the channel that serves it.
 */
export function createCatalog(
  declared: Readonly<Record<string, ModelConfig>>,
  servedBy: (id: string) => string | null = () => null,
): Catalog {
  const own = new Map(Object.entries(declared).filter(([id]) => !isPattern(id)))
  const patternFor = longestPattern(declared)
  const byVendor = new Map<string, readonly Model[]>()
  const byId = new Map<string, Model>()
  for (const list of shippedModels) {
    const models = Object.entries(list.models).map(([id, model]) =>
      withDeclared(shippedModel(id, model, list), own.get(id)),
    )
    byVendor.set(list.vendor, Object.freeze(models))
    for (const model of models) if (!byId.has(model.id)) byId.set(model.id, model)
  }
  for (const [id, model] of own) {
    if (byId.has(id)) continue
    const ownedBy = servedBy(id) ?? ownerOf(id, 'custom')
    byId.set(id, withDeclared(unknownModel(id, ownedBy), model))
  }
  const calls = new Map(
    shippedModels.flatMap(({ vendor, models }) =>
      Object.entries(models).flatMap(([id, { calls: own }]) =>
        own === undefined ? [] : [[`${vendor} ${id}`, own] as const],
      ),
    ),
  )
  return {
    vendorsName: (vendor, id) => calls.get(`${vendor} ${id}`) ?? id,
    known: [...byId.keys()].filter((id) => !id.startsWith('sandbox/')),
    find: (id) => byId.get(id) ?? null,
    ofVendor: (vendor) => byVendor.get(vendor) ?? [],
    assume: (id, ownedBy) => {
      const base = sandboxBase(id, byId)
      const kind = base?.kind ?? kindByName(id)
      // It may accept images, so the vendor is left to judge.
      const context = base?.context ?? null
      const assumed = { ...unknownModel(id, ownedBy), kind, context, vision: kind === 'chat' }
      return withDeclared(assumed, patternFor(id))
    },
  }
}

/** The settings declared for names with this beginning (`acme/*`); the longest match wins. */
function longestPattern(
  declared: Readonly<Record<string, ModelConfig>>,
): (id: string) => ModelConfig | undefined {
  const patterns = Object.entries(declared).filter(([name]) => isPattern(name))
  const beginnings = new Beginnings(
    patterns.map(([name, settings]) => [name.slice(0, -1), settings] as const),
  )
  return (id) => beginnings.find(id)?.value
}

function shippedModel(id: string, model: ShippedModel, list: ShippedModels): Model {
  return {
    id,
    kind: model.kind ?? 'chat',
    also: model.also ?? [],
    context: model.context ?? null,
    maxOutput: model.maxOutput ?? null,
    vision: model.vision ?? false,
    reasoning: model.reasoning ?? null,
    ownedBy: ownerOf(id, list.ownedBy),
    createdAt,
    timeouts: model.timeouts ?? {},
  }
}

function unknownModel(id: string, ownedBy: string): Model {
  return {
    id,
    kind: 'chat',
    also: [],
    context: null,
    maxOutput: null,
    vision: false,
    reasoning: null,
    ownedBy,
    createdAt,
    timeouts: {},
  }
}

function withDeclared(model: Model, declared: ModelConfig | undefined): Model {
  if (declared === undefined) return Object.freeze(model)
  return Object.freeze({
    ...model,
    kind: declared.kind ?? model.kind,
    also: declared.kind === null || declared.kind === model.kind ? model.also : [],
    context: declared.context ?? model.context,
    maxOutput: declared.maxOutput ?? model.maxOutput,
    vision: declared.vision ?? model.vision,
    ownedBy: declared.ownedBy?.toLowerCase() ?? model.ownedBy,
    timeouts: Object.freeze({ ...model.timeouts, ...declared.timeouts }),
  })
}

/** The sandbox model behind a name, with or without settings. */
function sandboxBase(id: string, byId: ReadonlyMap<string, Model>): Model | null {
  if (!id.startsWith('sandbox/')) return null
  const [base = id] = id.split('+', 1)
  return byId.get(base) ?? null
}

const namedKinds: readonly (readonly [pattern: RegExp, kind: ModelKind])[] = [
  [/rerank/, 'rerank'],
  [/embed|(^|[/-])(bge|e5|gte)-/, 'embedding'],
  [/moderation/, 'moderation'],
  [/(^|[/-])realtime/, 'realtime'],
  [/whisper|transcribe|(^|\/)scribe/, 'transcription'],
  [/(^|[/-])tts(-|$)|(^|\/)(eleven_|aura-)/, 'speech'],
  [/(^|[/-])(sora|veo|kling|hailuo|seedance)(-|$)|-(t2v|i2v)(-|$)|imagine-video/, 'video'],
  [
    /dall-e|gpt-image|stable-diffusion|stable-image|flux|qwen-image|imagine-image|-t2i(-|$)/,
    'image',
  ],
  [/turbo-instruct|davinci-002|babbage-002/, 'completion'],
]

/** Guesses the kind from how vendors name their models; an operator's declaration takes precedence. */
function kindByName(id: string): ModelKind {
  const name = id.toLowerCase()
  return namedKinds.find(([pattern]) => pattern.test(name))?.[1] ?? 'chat'
}
