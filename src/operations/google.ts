// Parses Google's addresses, which name the model and the method: `/models/MODEL:generateContent`.

import type { RequestHeaders } from '../identity/request-headers.ts'
import type { Address } from '../wire/request.ts'
import { countContents } from './count-tokens/google.ts'
import { listRelay } from './embeddings/translate.ts'
import type { Operation } from './operation.ts'
import { decodeId } from './path.ts'

const generate: Operation = { dialect: 'gemini' }
const embed: Operation = { dialect: 'google-embed', upstream: listRelay }

export interface GoogleCall {
  readonly operation: Operation
  readonly address: Address
}

/** Recognizes Google's clients by headers that no other client sends. */
export function isGoogleClient(headers: RequestHeaders): boolean {
  return headers.has('x-goog-api-key') || headers.has('x-goog-api-client')
}

/** Whether a path has one of Google's API versions: errors there are in Google's form. */
export function isGooglePath(path: string): boolean {
  return /^(\/v1|\/upload|\/download)?\/v1(alpha|beta\d*)(\/|$)/.test(path)
}

const version = /^\/?(v1\/)?v1(alpha|beta\d*)?\//
const collection = /^((projects\/[^/]+\/locations\/[^/]+\/)?publishers\/google\/)?models\//

/**
 * The model and the method in an address, without the version and the collection before them. Names contain `/`, `:`
 * and `@`, plain or percent-encoded, and some clients put one with a `/` directly behind the version.
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
      return { operation: generate, address: { model, stream: false } }
    case 'streamGenerateContent': {
      const list = query.get('alt') !== 'sse'
      return { operation: generate, address: { model, stream: true, list } }
    }
    case 'embedContent':
    case 'batchEmbedContents':
      return { operation: embed, address: { model } }
    case 'countTokens':
      return { operation: countContents, address: { model } }
    default:
      return null
  }
}

export function googleModelId(url: string): string {
  return named(url).rest
}
