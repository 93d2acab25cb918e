// The table of what is served under /v1: a new endpoint is one row.

import type { ClientDialectId, CommonDialectId } from '../wire/formats.ts'

/** A row that sends a request to a model. */
export interface ModelEndpoint {
  readonly kind: 'model'
  readonly path: string
  readonly method: 'POST'
  readonly dialect: ClientDialectId
  /** What stands before the path; left out: `apiPrefixes`. */
  readonly prefixes?: readonly string[]
}

/** A row of Google's, whose addresses name the model and the method: `/models/MODEL:generateContent`. */
export interface GoogleEndpoint {
  readonly kind: 'google-call' | 'google-models' | 'google-model-by-id'
  readonly path: string
  readonly method: 'GET' | 'POST'
  readonly prefixes: readonly string[]
}

/** A row that only counts what a request to a model would come to. */
export interface CountEndpoint {
  readonly kind: 'count-tokens'
  readonly path: string
  readonly method: 'POST'
  readonly dialect: CommonDialectId
  readonly prefixes?: readonly string[]
}

/** A row that reads what the gateway itself knows. */
export interface ReadEndpoint {
  readonly kind: 'models' | 'model-by-id'
  readonly path: string
  readonly method: 'GET'
  readonly prefixes?: readonly string[]
}

/** A row that reads or changes a response that is kept. */
export interface ResponseEndpoint {
  readonly kind: 'response' | 'response-removal' | 'response-cancel' | 'response-input'
  readonly path: string
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly prefixes?: readonly string[]
}

/** A row of videos: begun, found, listed, fetched and deleted. */
export interface VideoEndpoint {
  readonly kind:
    | 'video-begin'
    | 'videos'
    | 'video'
    | 'video-removal'
    | 'video-content'
    | 'video-remix'
  readonly path: string
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly prefixes?: readonly string[]
}

/** A row where something else is asked than what the address is for. */
export interface OtherEndpoint {
  readonly kind: 'realtime' | 'response-socket' | 'response-tokens' | 'not-offered'
  readonly path: string
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly prefixes?: readonly string[]
}

export type Endpoint =
  | ResponseEndpoint
  | VideoEndpoint
  | OtherEndpoint
  | ModelEndpoint
  | CountEndpoint
  | ReadEndpoint
  | GoogleEndpoint

/** Google's own versions, below the gateway's address or below one that ends in /v1. */
const googlePrefixes = ['/v1beta', '/v1alpha', '/v1/v1beta'] as const
/** Vertex names the publisher, and may name the project before it. */
const vertexPrefixes = ['/v1beta1', '/v1'].flatMap((version) => [
  `${version}/publishers/google`,
  `${version}/projects/:project/locations/:location/publishers/google`,
])

/** Clients differ in whether their base address ends in /v1, and some add it twice. */
export const apiPrefixes = ['/v1', '', '/v1/v1'] as const

/** A path of an interface that is known and not served, whatever is asked of it. */
function notOffered(path: string): OtherEndpoint[] {
  const methods = ['GET', 'POST', 'DELETE'] as const
  return methods.map((method) => ({ kind: 'not-offered', path, method }))
}

/** Paths below a prefix of `apiPrefixes`, or of the row's own. */
export const endpoints: readonly Endpoint[] = [
  { kind: 'model', path: '/chat/completions', method: 'POST', dialect: 'openai-chat' },
  // Chats are not stored: none is listed, read, changed or removed.
  { kind: 'not-offered', path: '/chat/completions', method: 'GET' },
  ...['/chat/completions/:id', '/chat/completions/:id/messages'].flatMap(notOffered),
  { kind: 'model', path: '/completions', method: 'POST', dialect: 'openai-completions' },
  { kind: 'model', path: '/responses', method: 'POST', dialect: 'openai-responses' },
  { kind: 'response-socket', path: '/responses', method: 'GET' },
  { kind: 'response-tokens', path: '/responses/input_tokens', method: 'POST' },
  { kind: 'model', path: '/responses/compact', method: 'POST', dialect: 'openai-compaction' },
  { kind: 'response', path: '/responses/:id', method: 'GET' },
  { kind: 'response-removal', path: '/responses/:id', method: 'DELETE' },
  { kind: 'response-cancel', path: '/responses/:id/cancel', method: 'POST' },
  { kind: 'response-input', path: '/responses/:id/input_items', method: 'GET' },
  { kind: 'model', path: '/embeddings', method: 'POST', dialect: 'openai-embeddings' },
  { kind: 'model', path: '/images/generations', method: 'POST', dialect: 'openai-images' },
  { kind: 'model', path: '/images/edits', method: 'POST', dialect: 'openai-image-edits' },
  { kind: 'model', path: '/images/variations', method: 'POST', dialect: 'openai-image-variations' },
  {
    kind: 'model',
    path: '/audio/transcriptions',
    method: 'POST',
    dialect: 'openai-transcriptions',
  },
  { kind: 'model', path: '/audio/translations', method: 'POST', dialect: 'openai-translations' },
  { kind: 'model', path: '/audio/speech', method: 'POST', dialect: 'openai-speech' },
  { kind: 'model', path: '/moderations', method: 'POST', dialect: 'openai-moderations' },
  { kind: 'realtime', path: '/realtime', method: 'GET' },
  { kind: 'video-begin', path: '/videos', method: 'POST' },
  { kind: 'videos', path: '/videos', method: 'GET' },
  ...[
    '/videos/edits',
    '/videos/extensions',
    '/videos/characters',
    '/videos/characters/:id',
  ].flatMap(notOffered),
  { kind: 'video', path: '/videos/:id', method: 'GET' },
  { kind: 'video-removal', path: '/videos/:id', method: 'DELETE' },
  { kind: 'video-content', path: '/videos/:id/content', method: 'GET' },
  { kind: 'video-remix', path: '/videos/:id/remix', method: 'POST' },
  { kind: 'model', path: '/rerank', method: 'POST', dialect: 'rerank' },
  // Where Cohere's clients look for it.
  { kind: 'model', path: '/v2/rerank', method: 'POST', dialect: 'rerank' },
  { kind: 'model', path: '/messages', method: 'POST', dialect: 'anthropic-messages' },
  {
    kind: 'count-tokens',
    path: '/messages/count_tokens',
    method: 'POST',
    dialect: 'anthropic-messages',
  },
  { kind: 'models', path: '/models', method: 'GET' },
  { kind: 'model-by-id', path: '/models/*', method: 'GET' },
  {
    kind: 'google-call',
    path: '/models/*',
    method: 'POST',
    prefixes: [...googlePrefixes, ...vertexPrefixes, ...apiPrefixes],
  },
  { kind: 'google-models', path: '/models', method: 'GET', prefixes: googlePrefixes },
  { kind: 'google-model-by-id', path: '/models/*', method: 'GET', prefixes: googlePrefixes },
]

/**
 * First segments below /v1 of interfaces the product does not offer (specification, "Unsupported", and
 * their neighbours): answered as such, so that nobody takes them for a mistyped path.
 */
const unsupportedFamilies: ReadonlySet<string> = new Set([
  'fine_tuning',
  'fine-tunes',
  'fine_tunes',
  'files',
  'uploads',
  'batches',
  'assistants',
  'threads',
  'vector_stores',
  'organization',
  'organizations',
  'projects',
  'dashboard',
  'billing',
  'usage',
  'credit_grants',
  'subscription',
  'evals',
  'containers',
  'conversations',
  'chatkit',
  'engines',
  'edits',
  // Its other paths: sessions by short-lived keys, and calls by telephone or WebRTC.
  'realtime',
  'skills',
  // Anthropic's.
  'complete',
  // Google's.
  'cachedContents',
  'tunedModels',
  'corpora',
  'fileSearchStores',
  'interactions',
  'auth_tokens',
  'operations',
])

/** Of interfaces that are served in part. */
const unsupportedParts = /^(audio\/(voices|voice_consents)|messages\/batches)(\/|$)/

/** What of a path no route took is an interface that is known and not offered; null: none. */
export function unsupportedIn(path: string): string | null {
  const rest = belowPrefix(path).replace(/^\/((upload|download)\/)?(v1(alpha|beta\d*)\/)?/, '')
  const [family = ''] = rest.split(/[/:]/)
  return unsupportedFamilies.has(family) || unsupportedParts.test(rest) ? family : null
}

/** The path without the prefixes clients put before it: `/v1/v1/files/x` gives `/files/x`. */
export function belowPrefix(path: string): string {
  let rest = path
  while (rest.startsWith('/v1/')) rest = rest.slice(3)
  return rest
}

/** Ids hold `/`, `:` and `@`, plain or percent-encoded; what is no encoding is taken as it stands. */
export function decodeId(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return text
    throw error
  }
}
