// The table of what is served: each row is a path, who may ask, and what answers. A new endpoint is one row.

import { GatewayError } from '../errors.ts'
import { speech, transcriptions, translations } from '../operations/audio/request.ts'
import { countMessages } from '../operations/count-tokens/count-tokens.ts'
import { countResponse } from '../operations/count-tokens/responses.ts'
import { deploymentCallOf } from '../operations/deployments.ts'
import { listRelay } from '../operations/embeddings/translate.ts'
import {
  type GoogleCall,
  googleCallOf,
  isGoogleClient,
  isGooglePath,
} from '../operations/google.ts'
import { edits, generations, variations } from '../operations/images/request.ts'
import { isAnthropic, readModel, readModels } from '../operations/models/read.ts'
import type { ClientRequest, Fields, Operation } from '../operations/operation.ts'
import { belowPrefix } from '../operations/path.ts'
import { compaction, responses } from '../operations/responses/operation.ts'
import {
  cancelResponse,
  listInput,
  readResponse,
  removeResponse,
} from '../operations/responses/read.ts'
import type { Services } from '../operations/services.ts'
import type { RelayOperation } from '../relay/operation.ts'
import type { ClientDialectId } from '../wire/formats.ts'
import { readHosted } from './files.ts'
import { readBalance, readUsage, readUsageRow } from './me.ts'
import { asksSocket, pathOf } from './request.ts'
import type { Endpoint, PublicHandle } from './row.ts'

/** Google's API versions, directly below the gateway's address or below a base address that ends in /v1. */
const googlePrefixes = ['/v1beta', '/v1alpha', '/v1/v1beta'] as const
/** Vertex AI puts the publisher into the path, and may put the project before it. */
const vertexPrefixes = ['/v1beta1', '/v1'].flatMap((version) => [
  `${version}/publishers/google`,
  `${version}/projects/:project/locations/:location/publishers/google`,
])

/**
 * Clients differ in whether their base address ends in /v1, and some add it twice. Azure's v1 API and Groq's SDKs have
 * /openai before it; Azure's dated APIs have /openai alone.
 */
const apiPrefixes = ['/v1', '', '/v1/v1', '/openai/v1', '/openai'] as const
const modelPrefixes = [...apiPrefixes, ...googlePrefixes] as const
/** For paths that no API prefix stands before. */
const bare = [''] as const

/** The row of an operation that needs nothing but its format. */
function plain(path: string, dialect: ClientDialectId, upstream?: RelayOperation): Endpoint {
  const operation = upstream === undefined ? { dialect } : { dialect, upstream }
  return { path, method: 'POST', access: 'key', operation }
}

/** Rows that refuse every method of a known path that this gateway does not serve. */
function notOffered(path: string): Endpoint[] {
  const methods = ['GET', 'POST', 'DELETE'] as const
  return methods.map((method) => ({ path, method, access: 'public', handle: refuseKnown }))
}

const refuseKnown: PublicHandle = ({ method, url }) => {
  const message = `${method} ${pathOf(url)} is not offered by this gateway.`
  throw new GatewayError('unsupported_endpoint', message)
}

/** Refuses a WebSocket with a status at which its client turns to server-sent events; GET offers nothing else here. */
const refuseSocket: PublicHandle = (request, fields) => {
  if (!asksSocket(request)) throw wrongMethod(request, fields, 'POST, OPTIONS')
  const message = 'Responses are not served over WebSocket here: POST with "stream": true.'
  throw new GatewayError('upgrade_required', message)
}

/** Below Google's versions, its other methods are refused as not offered; elsewhere the path takes no POST. */
function googleOperation(request: ClientRequest, fields: Fields): GoogleCall {
  const call = googleCallOf(request.url)
  if (call !== null) return call
  const path = pathOf(request.url)
  if (!isGooglePath(path)) throw wrongMethod(request, fields, 'GET, HEAD, OPTIONS')
  const method = path.slice(path.lastIndexOf('/') + 1)
  const message = `This method of the models interface is not offered by this gateway: ${method}`
  throw new GatewayError('unsupported_endpoint', message)
}

/** Sets `allow` in `fields`. */
export function wrongMethod(
  { method }: ClientRequest,
  fields: Fields,
  allow: string,
): GatewayError {
  fields['allow'] = allow
  return new GatewayError('method_not_allowed', `This path takes ${allow}, not ${method}.`)
}

/** Loaded at the first request. Operations that take uploads load at start: bodies would gather in memory meanwhile. */
const realtime = () => import('../operations/realtime/request.ts')
const videos = () => import('../operations/videos/request.ts')
const videosRead = () => import('../operations/videos/read.ts')

/** Paths below each prefix of `apiPrefixes`, or of the row's own `prefixes`. */
const rows: readonly Endpoint[] = [
  plain('/chat/completions', 'openai-chat'),
  // Chats are not stored, so none can be listed, read, changed or removed.
  { path: '/chat/completions', method: 'GET', access: 'public', handle: refuseKnown },
  ...['/chat/completions/:id', '/chat/completions/:id/messages'].flatMap(notOffered),
  plain('/completions', 'openai-completions'),
  { path: '/responses', method: 'POST', access: 'key', operation: responses },
  { path: '/responses', method: 'GET', access: 'public', handle: refuseSocket },
  { path: '/responses/input_tokens', method: 'POST', access: 'key', operation: countResponse },
  { path: '/responses/compact', method: 'POST', access: 'key', operation: compaction },
  { path: '/responses/:id', method: 'GET', access: 'key', read: readResponse },
  { path: '/responses/:id', method: 'DELETE', access: 'key', read: removeResponse },
  { path: '/responses/:id/cancel', method: 'POST', access: 'key', read: cancelResponse },
  { path: '/responses/:id/input_items', method: 'GET', access: 'key', read: listInput },
  plain('/embeddings', 'openai-embeddings', listRelay),
  {
    path: '/images/generations',
    method: 'POST',
    access: 'key',
    operation: generations,
  },
  {
    path: '/images/edits',
    method: 'POST',
    access: 'key',
    operation: edits,
  },
  {
    path: '/images/variations',
    method: 'POST',
    access: 'key',
    operation: variations,
  },
  {
    path: '/audio/transcriptions',
    method: 'POST',
    access: 'key',
    operation: transcriptions,
  },
  {
    path: '/audio/translations',
    method: 'POST',
    access: 'key',
    operation: translations,
  },
  {
    path: '/audio/speech',
    method: 'POST',
    access: 'key',
    operation: speech,
  },
  plain('/moderations', 'openai-moderations'),
  {
    path: '/realtime',
    method: 'GET',
    access: 'key',
    load: async () => (await realtime()).realtime,
    socketOnly: 'Realtime is served over WebSocket: connect to wss://.../v1/realtime?model=NAME.',
  },
  {
    path: '/videos',
    method: 'POST',
    access: 'key',
    load: async () => (await videos()).newVideo,
  },
  {
    path: '/videos',
    method: 'GET',
    access: 'key',
    read: async (...asked) => (await videosRead()).listVideos(...asked),
  },
  ...[
    '/videos/edits',
    '/videos/extensions',
    '/videos/characters',
    '/videos/characters/:id',
  ].flatMap(notOffered),
  {
    path: '/videos/:id',
    method: 'GET',
    access: 'key',
    read: async (...asked) => (await videosRead()).readVideo(...asked),
  },
  {
    path: '/videos/:id',
    method: 'DELETE',
    access: 'key',
    read: async (...asked) => (await videosRead()).removeVideo(...asked),
  },
  {
    path: '/videos/:id/content',
    method: 'GET',
    access: 'key',
    read: async (...asked) => (await videosRead()).readContent(...asked),
  },
  {
    path: '/videos/:id/remix',
    method: 'POST',
    access: 'key',
    load: async () => (await videos()).remix,
  },
  plain('/rerank', 'rerank', listRelay),
  // The path that Cohere's clients use.
  plain('/v2/rerank', 'rerank', listRelay),
  plain('/score', 'score', listRelay),
  plain('/messages', 'anthropic-messages'),
  { path: '/messages/count_tokens', method: 'POST', access: 'key', operation: countMessages },
  { path: '/models', method: 'GET', access: 'key', read: readModels, prefixes: modelPrefixes },
  { path: '/models/*', method: 'GET', access: 'key', read: readModel, prefixes: modelPrefixes },
  {
    path: '/models/*',
    method: 'POST',
    access: 'key',
    operationAt: googleOperation,
    prefixes: [...googlePrefixes, ...vertexPrefixes, ...apiPrefixes],
  },
  { path: '/api/me/balance', method: 'GET', access: 'any', read: readBalance, prefixes: bare },
  { path: '/api/me/usage', method: 'GET', access: 'any', read: readUsage, prefixes: bare },
  { path: '/api/me/usage/:id', method: 'GET', access: 'any', read: readUsageRow, prefixes: bare },
  { path: '/files/:id', method: 'GET', access: 'public', handle: readHosted, prefixes: bare },
]

export const endpoints = rows.map((row) => ({ prefixes: apiPrefixes, ...row }))

/** What Azure's dated APIs have below a deployment; the longest first. */
const deployed = new Map<string, Operation<Services>>([
  ['chat/completions', { dialect: 'openai-chat' }],
  ['images/generations', generations],
  ['images/edits', edits],
  ['audio/transcriptions', transcriptions],
  ['audio/translations', translations],
  ['audio/speech', speech],
  ['completions', { dialect: 'openai-completions' }],
  ['embeddings', { dialect: 'openai-embeddings', upstream: listRelay }],
])

/** The endpoint of a request whose path matches no row but is served all the same; null: there is none. */
export function unknownEndpoint(request: ClientRequest): Endpoint | null {
  const { method, url } = request
  if (method !== 'POST') return null
  const call = deploymentCallOf(pathOf(url), deployed)
  if (call !== null) return { path: '', method, access: 'key', operationAt: () => call }
  // Some Google clients put a model name that contains `/` where others write `models/`.
  if (!isGooglePath(pathOf(url)) || googleCallOf(url) === null) return null
  return { path: '', method, access: 'key', operationAt: googleOperation }
}

/**
 * The format of a refusal for a request that matches no operation; null: OpenAI's. Anthropic's and Google's clients get
 * refusals in their own format even where no model is asked.
 */
export function clientFormat({ headers, url }: ClientRequest): ClientDialectId | null {
  const path = pathOf(url)
  const below = belowPrefix(path)
  if (isGooglePath(path) || headers.has('x-goog-api-client')) return 'gemini'
  // Any client may send its key in Google's header.
  if (below.startsWith('/models') && isGoogleClient(headers)) return 'gemini'
  return isAnthropic(headers) || below.startsWith('/messages') ? 'anthropic-messages' : null
}

/** Google's clients may put the key in the query; for all other clients the query is not searched for one. */
export function mayShowKeyInAddress(request: ClientRequest): boolean {
  return clientFormat(request) === 'gemini'
}

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
  // The other paths below it: sessions by short-lived keys, and calls by telephone or WebRTC.
  'realtime',
  'skills',
  // Anthropic.
  'complete',
  // Google.
  'cachedContents',
  'tunedModels',
  'corpora',
  'fileSearchStores',
  'interactions',
  'auth_tokens',
  'operations',
])

/** Paths not offered, within interfaces that are served in part. */
const unsupportedParts = /^(audio\/(?:voices|voice_consents)|messages\/batches)(?:\/|$)/

/** The name of the known interface that an unmatched path belongs to and that is not offered; null: it is none. */
export function unsupportedIn(path: string): string | null {
  const rest = belowPrefix(path).replace(/^\/((upload|download)\/)?(v1(alpha|beta\d*)\/)?/, '')
  const [family = ''] = rest.split(/[/:]/)
  if (unsupportedFamilies.has(family)) return family
  return unsupportedParts.exec(rest)?.[1] ?? null
}
