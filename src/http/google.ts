// Google's addresses and lists: the call a path names, and the models as Google's clients read them.

import type { Model } from '../catalog/model.ts'
import { GatewayError, invalidRequest } from '../errors.ts'
import type { KeyPrincipal } from '../identity/principal.ts'
import { counting } from '../operations/count-tokens/count-tokens.ts'
import { parsedObject } from '../relay/parsed.ts'
import { countTokens } from '../wire/gemini/count.ts'
import type { JsonValue } from '../wire/ir.ts'
import { isObject } from '../wire/json/value.ts'
import type { Address } from '../wire/request.ts'
import { decodeId } from './endpoints.ts'
import type { FrontRooms } from './front-rooms.ts'

export interface GoogleCall {
  readonly method: 'generate' | 'embed' | 'count'
  readonly model: string
  readonly address: Address
}

/** By the headers that Google's clients send and nobody else's do. */
export function isGoogleClient(headers: Headers): boolean {
  return headers.has('x-goog-api-key') || headers.has('x-goog-api-client')
}

/** Below Google's own versions refusals are in its shape. */
export function isGooglePath(path: string): boolean {
  return /^(\/v1|\/upload|\/download)?\/v1(alpha|beta\d*)(\/|$)/.test(path)
}

const version = /^\/?(v1\/)?v1(alpha|beta\d*)?\//
const collection = /^((projects\/[^/]+\/locations\/[^/]+\/)?publishers\/google\/)?models\//

/**
 * The model, and the method behind it, that an address names: behind the version and what it calls models by. Names hold
 * `/`, `:` and `@`, plain or percent-encoded, and some clients put one with a `/` right behind the version.
 */
function named(url: string): { readonly rest: string; readonly query: URLSearchParams } {
  const mark = url.indexOf('?')
  const address = mark < 0 ? url : url.slice(0, mark)
  const path = address.slice(address.indexOf('/', address.indexOf('://') + 3))
  const rest = path.replace(version, '').replace(/^\//, '').replace(collection, '')
  return { rest: decodeId(rest), query: new URLSearchParams(mark < 0 ? '' : url.slice(mark)) }
}

/** The call at an address like `.../models/MODEL:streamGenerateContent?alt=sse`; null for a method not offered. */
export function googleCallOf(url: string): GoogleCall | null {
  const { rest, query } = named(url)
  const colon = rest.lastIndexOf(':')
  if (colon < 1) return null
  const model = rest.slice(0, colon)
  switch (rest.slice(colon + 1)) {
    case 'generateContent':
      return { method: 'generate', model, address: { model, stream: false } }
    case 'streamGenerateContent': {
      const list = query.get('alt') !== 'sse'
      return { method: 'generate', model, address: { model, stream: true, list } }
    }
    case 'embedContent':
    case 'batchEmbedContents':
      return { method: 'embed', model, address: { model } }
    case 'countTokens':
      return { method: 'count', model, address: { model } }
    default:
      return null
  }
}

export function googleModelId(url: string): string {
  return named(url).rest
}

/** By kind of model; of other kinds Google's interface has none here. */
const methodsOf: Readonly<Record<string, readonly string[]>> = {
  chat: ['generateContent', 'streamGenerateContent', 'countTokens'],
  embedding: ['embedContent', 'batchEmbedContents'],
}

/** API reference, `Model`. */
function entry(model: Model): Record<string, unknown> {
  const { id, kind, also, context, maxOutput } = model
  const methods = [kind, ...also].flatMap((each) => methodsOf[each] ?? [])
  return {
    name: `models/${id}`,
    version: '001',
    displayName: id,
    description: `Served by ${model.ownedBy}.`,
    ...(context !== null && { inputTokenLimit: context }),
    ...(maxOutput !== null && { outputTokenLimit: maxOutput }),
    supportedGenerationMethods: methods,
  }
}

export function googleModelList(models: readonly Model[]): string {
  return JSON.stringify({ models: models.map(entry) })
}

export function googleModel(model: Model): string {
  return JSON.stringify(entry(model))
}

/** Answers `countTokens` here, by an estimate: free, and for models whose vendors count nothing too. */
export async function countHere(
  rooms: FrontRooms,
  request: Request,
  model: string,
): Promise<string> {
  const count = async (body: Uint8Array, principal: KeyPrincipal) => {
    const isListed = rooms.modelAccess.model(principal, model) !== null
    if (!isListed && !isServed(rooms, principal, model)) throw unknownModel(model)
    const asked: JsonValue = parsedObject(body)
    if (isObject(asked)) return JSON.stringify(countTokens(asked))
    throw invalidRequest('The request body must be a JSON object.', null)
  }
  return counting(rooms, request, count, request.url)
}

/** A name that only a pattern serves is in no list. */
function isServed(rooms: FrontRooms, principal: KeyPrincipal, model: string) {
  const dialect = rooms.relay.dialects.gemini
  return rooms.modelAccess.find(principal, model, dialect).candidates.length > 0
}

export function unknownModel(model: string): GatewayError {
  return new GatewayError(
    'model_not_found',
    `The model '${model}' does not exist or is not available to this key.`,
    { param: 'model' },
  )
}
