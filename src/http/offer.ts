// What a caller may use: the models of its group and key, and the channels that serve each of them.

import type { Catalog, Model } from '../catalog/model.ts'
import type { Config } from '../config/types.ts'
import { invalidRequest } from '../errors.ts'
import type { Principal } from '../identity/principal.ts'
import type { LimitScope } from '../limits/limiter.ts'
import type { Directory } from '../router/directory.ts'
import type { Candidate } from '../router/route.ts'
import type { Dialect, DialectId, Operation } from '../wire/dialect.ts'
import { dialects } from '../wire/dialects.ts'

export interface Offered {
  readonly model: Model
  /** Empty when the model does not exist for this caller. */
  readonly candidates: readonly Candidate[]
}

export interface Offer {
  /** Throws GatewayError where the model is of another kind than the endpoint serves. */
  find(principal: Principal, model: string, dialect: Dialect): Offered
  /** Concrete names this caller may use, sorted. */
  models(principal: Principal): readonly Model[]
  /** The limits this caller is under. */
  scopes(principal: Principal): readonly LimitScope[]
}

const endpointOfKind: Readonly<Record<string, string>> = {
  chat: '/v1/chat/completions',
  completion: '/v1/completions',
  embedding: '/v1/embeddings',
  rerank: '/v1/rerank',
  image: '/v1/images/generations',
  transcription: '/v1/audio/transcriptions',
  translation: '/v1/audio/translations',
  speech: '/v1/audio/speech',
  video: '/v1/videos',
  moderation: '/v1/moderations',
  realtime: '/v1/realtime',
}

/** A translation there is: chats and legacy completions in any format on vendors that chat in any other, and likewise lists. */
function hubbed(from: DialectId, to: DialectId): boolean {
  const [client, vendor] = [dialects[from], dialects[to]]
  if (client.list !== undefined && vendor.list !== undefined)
    return client.operation === vendor.operation
  return client.hub !== null && vendor.hub !== null && vendor.operation === 'chat'
}

export function createOffer(config: Config, catalog: Catalog, directory: Directory): Offer {
  const scopes = new WeakMap<Principal, readonly LimitScope[]>()
  const lists = new WeakMap<Principal, readonly Model[]>()
  const translated = new WeakMap<readonly Candidate[], readonly Candidate[]>()
  const describe = (id: string) => catalog.find(id) ?? catalog.assume(id, 'custom')
  return {
    find(principal, name, dialect) {
      const known = catalog.find(name)
      const model = known ?? catalog.assume(name, 'custom')
      if (!allows(principal.models, name)) return { model, candidates: [] }
      const direct = directory.candidates(principal.group, name, dialect.id, hubbed)
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
      const kept = lists.get(principal)
      if (kept !== undefined) return kept
      const made = directory
        .models(principal.group)
        .filter((id) => allows(principal.models, id))
        .map(describe)
      lists.set(principal, made)
      return made
    },
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

/** Who writes down what is said may be asked to translate it; whether this model does is its vendor's to say. */
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

function wrongKind(model: Model, dialect: Dialect) {
  const place = endpointOfKind[model.kind]
  const hint = place === undefined ? '' : ` Use ${place}.`
  return invalidRequest(
    `The model '${model.id}' is not ${named(dialect.operation)} model.${hint}`,
    'model',
  )
}

function named(operation: Operation): string {
  return `${/^[aeiou]/.test(operation) ? 'an' : 'a'} ${operation}`
}

function allows(patterns: readonly string[] | null, name: string): boolean {
  if (patterns === null) return true
  return patterns.some((each) =>
    each.endsWith('*') ? name.startsWith(each.slice(0, -1)) : each === name,
  )
}
