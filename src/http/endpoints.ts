// The table of what is served under /v1: a new endpoint is one row.

import type { DialectId } from '../wire/dialect.ts'

/** A row that sends a request to a model. */
export interface ModelEndpoint {
  readonly kind: 'model'
  readonly path: string
  readonly method: 'POST'
  readonly dialect: DialectId
}

/** A row that only counts what a request to a model would come to. */
export interface CountEndpoint {
  readonly kind: 'count-tokens'
  readonly path: string
  readonly method: 'POST'
  readonly dialect: DialectId
}

/** A row that reads what the gateway itself knows. */
export interface ReadEndpoint {
  readonly kind: 'models' | 'model-by-id'
  readonly path: string
  readonly method: 'GET'
}

export type Endpoint = ModelEndpoint | CountEndpoint | ReadEndpoint

/** Paths below a prefix of `apiPrefixes`. */
export const endpoints: readonly Endpoint[] = [
  { kind: 'model', path: '/chat/completions', method: 'POST', dialect: 'openai-chat' },
  { kind: 'model', path: '/completions', method: 'POST', dialect: 'openai-completions' },
  { kind: 'model', path: '/responses', method: 'POST', dialect: 'openai-responses' },
  { kind: 'model', path: '/embeddings', method: 'POST', dialect: 'openai-embeddings' },
  { kind: 'model', path: '/messages', method: 'POST', dialect: 'anthropic-messages' },
  {
    kind: 'count-tokens',
    path: '/messages/count_tokens',
    method: 'POST',
    dialect: 'anthropic-messages',
  },
  { kind: 'models', path: '/models', method: 'GET' },
  { kind: 'model-by-id', path: '/models/*', method: 'GET' },
]

/** Clients differ in whether their base address ends in /v1, and some add it twice. */
export const apiPrefixes = ['/v1', '', '/v1/v1'] as const

/**
 * First segments below /v1 of interfaces the product does not offer (specification, "Unsupported", and
 * their neighbours): answered as such, so that nobody takes them for a mistyped path.
 */
export const unsupportedFamilies: ReadonlySet<string> = new Set([
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
])

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
