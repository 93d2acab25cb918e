// Which models a caller may use (by its group and key), and the channels that serve each of them.

import { undated } from '../catalog/dated.ts'
import { ownerOf } from '../catalog/family.ts'
import type { Catalog, Model } from '../catalog/model.ts'
import { isPattern } from '../config/beginnings.ts'
import type { Config } from '../config/types.ts'
import { invalidRequest } from '../errors.ts'
import type { KeyPrincipal } from '../identity/principal.ts'
import type { LimitScope } from '../limits/limiter.ts'
import type { PriceBook } from '../meter/meter.ts'
import type { Directory } from '../router/directory.ts'
import { Names } from '../router/reach.ts'
import type { Candidate } from '../router/route.ts'
import type { ClientDialect } from '../wire/dialect.ts'
import {
  type ClientDialectId,
  type DialectId,
  endpointOf,
  type Operation,
  operationOf,
  type VendorDialectId,
} from '../wire/formats.ts'
import { loadedDialect } from '../wire/registry.ts'

export interface ModelRoute {
  readonly model: Model
  /** Empty where the model does not exist for this caller. */
  readonly candidates: readonly Candidate[]
}

export interface ModelAccess {
  /** Throws GatewayError where the model is not of the kind that the endpoint serves. */
  find(
    principal: KeyPrincipal,
    model: string,
    dialect: Pick<ClientDialect, 'id' | 'operation'>,
  ): ModelRoute
  /** Concrete names this caller may use now, sorted: those that are both served and priced. */
  models(principal: KeyPrincipal): readonly Model[]
  /** The same for one name, also one that a channel's pattern serves or that has a date; null: it cannot be used. */
  model(principal: KeyPrincipal, name: string): Model | null
  /** The reason why a name cannot be used, in a few words; null: it can. */
  whyNot(principal: KeyPrincipal, name: string): string | null
  /** The name whose price applies: its own, or that of the model it is an alias of. */
  pricedAs(principal: KeyPrincipal, name: string): string
  /** The limits that apply to this caller. */
  scopes(principal: KeyPrincipal): readonly LimitScope[]
}

/** The beginning of the reason why a name that is served cannot be used. */
export const noPrice = 'has no price'

/** A multiplier of 1, in millionths. */
const million = 1_000_000

/** Whether clients may use a dialect. One not loaded yet is for clients: vendor-only ones load at the start. */
function isServed(id: DialectId): id is ClientDialectId {
  const dialect = loadedDialect(id)
  return dialect === undefined || dialect.client !== undefined
}

const dialectIds = Object.keys(operationOf) as readonly DialectId[]

/** Dialects in which clients may ask for an operation, OpenAI's first. */
export function dialectsOf(operation: Operation): readonly ClientDialectId[] {
  return dialectIds.filter(isServed).filter((id) => operationOf[id] === operation)
}

/** Whether a translation exists: from chats and completions to any chat dialect, and between list dialects. */
function hubbed(from: ClientDialectId, to: VendorDialectId): boolean {
  const client = loadedDialect(from)?.client
  const vendor = loadedDialect(to)?.vendor
  if (client?.list !== undefined && vendor?.list !== undefined)
    return operationOf[from] === operationOf[to]
  return client?.hub !== undefined && vendor?.hub !== undefined && operationOf[to] === 'chat'
}

/** A principal with an unrestricted key of the group. */
export function anyoneOf(group: string): KeyPrincipal {
  return {
    kind: 'key',
    keyId: '',
    keyName: '',
    account: '',
    group,
    models: null,
    deniedModels: null,
    addresses: null,
    expiresAt: null,
    historyMode: null,
    showCost: false,
    limits: {},
  }
}

interface ModelAccessOptions {
  readonly config: Config
  readonly catalog: Catalog
  readonly directory: Directory
  /** The present prices. */
  prices(): PriceBook
}

/** What a name means to a group, and whether it can be used. */
function createNames({ catalog, directory, prices }: ModelAccessOptions) {
  const described = new WeakMap<readonly Candidate[], { book: PriceBook; model: Model }>()
  /** An unknown name is described like its name without a date; but a price of its own makes it a model of its own. */
  const describe = (group: string, name: string): Model => {
    const known = catalog.find(name)
    if (known !== null) return known
    const found = directory.nameOf(group, name) ?? name
    const isPriced = prices().find(name, Date.now(), million)?.model === name
    const base = isPriced ? null : catalog.find(found === name ? (undated(name) ?? name) : found)
    const own = isPriced ? name : found
    return base ?? catalog.assume(own, ownerOf(own, 'custom'))
  }
  const mayUse = ({ group, models, deniedModels }: KeyPrincipal, name: string) => {
    if (models === null && deniedModels === null) return true
    const names = [name, directory.nameOf(group, name) ?? name]
    const isOneOf = (patterns: readonly string[]) =>
      names.some((each) => namesOf(patterns).has(each))
    return (models === null || isOneOf(models)) && !(deniedModels !== null && isOneOf(deniedModels))
  }
  return {
    describe,
    mayUse,
    /** Cached with its candidates: asked for every request. */
    describeOnce(group: string, name: string, candidates: readonly Candidate[]): Model {
      const book = prices()
      const kept = described.get(candidates)
      if (kept?.book === book) return kept.model
      const model = describe(group, name)
      // Without candidates the array is one shared by all names.
      if (candidates.length > 0) described.set(candidates, { book, model })
      return model
    },
    whyNot(principal: KeyPrincipal, name: string, { id, kind, also }: Model): string | null {
      const { group } = principal
      if (directory.nameOf(group, name) === null || !mayUse(principal, name)) return 'is not served'
      const answered = [kind, ...also].filter((each) =>
        dialectsOf(each).some(
          (dialect) => directory.candidates(group, name, dialect, hubbed).length > 0,
        ),
      )
      if (answered.length === 0) return `no vendor of its channels answers ${kind} requests`
      const rate = prices().find(id, Date.now(), million)
      if (rate === null) return noPrice
      const missing = answered.map((each) => rate.missing(each, null))
      return missing.includes(null) ? null : `${noPrice} for ${missing[0]}`
    },
  }
}

export function createModelAccess(rooms: ModelAccessOptions): ModelAccess {
  const { config, catalog, directory } = rooms
  const names = createNames(rooms)
  const scopes = new WeakMap<KeyPrincipal, readonly LimitScope[]>()
  const translated = new WeakMap<readonly Candidate[], readonly Candidate[]>()
  const list = createList(rooms, (group, name) => modelOf(anyoneOf(group), name))
  const modelOf = (principal: KeyPrincipal, name: string): Model | null => {
    const model = names.describe(principal.group, name)
    if (names.whyNot(principal, name, model) !== null) return null
    return model.id === name ? model : { ...model, id: name }
  }
  return {
    find(principal, name, dialect) {
      const direct = directory.candidates(principal.group, name, dialect.id, hubbed)
      const itself = catalog.find(name)
      const model = itself ?? names.describeOnce(principal.group, name, direct)
      const known = itself ?? catalog.find(model.id)
      if (!names.mayUse(principal, name)) return { model, candidates: [] }
      if (direct.length === 0 || known === null || answers(known, dialect.operation))
        return { model, candidates: direct }
      if (known.kind === 'chat' && dialect.operation === 'completion') {
        return {
          model,
          candidates: throughChat(
            translated,
            directory.candidates(principal.group, name, 'openai-chat', hubbed),
          ),
        }
      }
      throw wrongKind(model, dialect)
    },
    models(principal) {
      const { group, models, deniedModels } = principal
      const all = list(group)
      if (models === null && deniedModels === null) return all
      return all.filter(({ id }) => names.mayUse(principal, id))
    },
    model: modelOf,
    whyNot: (principal, name) =>
      names.whyNot(principal, name, names.describe(principal.group, name)),
    pricedAs: ({ group }, name) => names.describe(group, name).id,
    scopes(principal) {
      const kept = scopes.get(principal)
      if (kept !== undefined) return kept
      const group = config.groups[principal.group]
      const made = [
        { id: `key:${principal.keyId}`, limits: principal.limits },
        { id: `group:${principal.group}`, limits: group?.limits ?? {} },
      ].filter(({ limits }) => Object.keys(limits).length > 0)
      scopes.set(principal, made)
      return made
    },
  }
}

interface Listed {
  readonly book: PriceBook
  readonly begun: number
  readonly models: readonly Model[]
}

/** All models that a group's keys may use; cached between price changes, since the list is long and often asked for. */
function createList(
  { config, directory, prices }: ModelAccessOptions,
  modelOf: (group: string, name: string) => Model | null,
): (group: string) => readonly Model[] {
  // Keyed by the directory's own list, which groups with the same models and channels share.
  const kept = new WeakMap<readonly string[], Listed>()
  return (group) => {
    const book = prices()
    const begun = book.begun(Date.now())
    const named = directory.models(group)
    const known = kept.get(named)
    if (known?.book === book && known.begun === begun) return known.models
    const declared = Object.keys(config.models).filter((name) => !isPattern(name))
    const served = [...book.given, ...declared].filter(
      (name) => directory.nameOf(group, name) === name,
    )
    const all = [...new Set([...named, ...served])].sort()
    const models = all.flatMap((name) => modelOf(group, name) ?? [])
    kept.set(named, { book, begun, models })
    return models
  }
}

/**
 * Whether a model may be asked for an operation. A transcription model may be asked to translate: the vendor decides.
 */
function answers(model: Model, operation: Operation): boolean {
  if (isOrAlso(model, operation)) return true
  return operation === 'translation' && isOrAlso(model, 'transcription')
}

function isOrAlso({ kind, also }: Model, operation: Operation): boolean {
  return kind === operation || also.some((each) => each === operation)
}

function throughChat(
  kept: WeakMap<readonly Candidate[], readonly Candidate[]>,
  candidates: readonly Candidate[],
): readonly Candidate[] {
  const known = kept.get(candidates)
  if (known !== undefined) return known
  const made = candidates.map((candidate) => ({ ...candidate, identity: false }))
  kept.set(candidates, made)
  return made
}

function wrongKind(model: Model, dialect: Pick<ClientDialect, 'operation'>) {
  return invalidRequest(
    `The model '${model.id}' is not ${named(dialect.operation)} model. Use ${endpointOf[model.kind]}.`,
    'model',
  )
}

function named(operation: Operation): string {
  return `${/^[aeiou]/.test(operation) ? 'an' : 'a'} ${operation}`
}

const namesMade = new WeakMap<readonly string[], Names<true>>()

/** Compiled once for each key: asked for every request. */
function namesOf(patterns: readonly string[]): Names<true> {
  const known = namesMade.get(patterns)
  if (known !== undefined) return known
  const made = new Names(patterns.map((each) => [each, true] as const))
  namesMade.set(patterns, made)
  return made
}
