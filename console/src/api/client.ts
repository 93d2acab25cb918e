// Requests to the control API: typed by its OpenAPI document, with refusals as errors that pages show.

import createClient, { type ClientPathsWithMethod, type MaybeOptionalInit } from 'openapi-fetch'
import type { components, paths } from './schema.d.ts'

/** A shape of the OpenAPI document, by its name there. */
export type Shape<Name extends keyof components['schemas']> = components['schemas'][Name]

/** What the API refuses with (RFC 9457), or `offline` where no answer came. */
export class Problem extends Error {
  override readonly name = 'Problem'
  /** 0: no answer came. */
  readonly status: number
  readonly code: string
  /** Of the body, the query or the path. */
  readonly field: string | null
  readonly requestId: string | null

  constructor(status: number, code: string, message: string, rest: Partial<Problem> = {}) {
    super(message)
    this.status = status
    this.code = code
    this.field = rest.field ?? null
    this.requestId = rest.requestId ?? null
  }
}

const client = createClient<paths>({ baseUrl: '/', fetch: send })

async function send(request: Request): Promise<Response> {
  let reply: Response
  try {
    reply = await fetch(request)
  } catch (error) {
    if (request.signal.aborted) throw error
    throw new Problem(0, 'offline', 'The gateway cannot be reached.')
  }
  if (reply.ok) return reply
  throw await problemOf(reply)
}

/** Reads a refusal; a reply that is none (a proxy's page) becomes one by its status. */
export async function problemOf(reply: Response): Promise<Problem> {
  const requestId = reply.headers.get('x-request-id')
  try {
    const { code, detail, field = null } = await reply.json()
    return new Problem(reply.status, String(code), String(detail), { field, requestId })
  } catch {
    return new Problem(reply.status, 'unreadable', `HTTP ${reply.status}`, { requestId })
  }
}

type Get = ClientPathsWithMethod<typeof client, 'get'>
type Method = 'post' | 'put' | 'patch' | 'delete'
type Init<M extends 'get' | Method, Path extends keyof paths> = M extends keyof paths[Path]
  ? MaybeOptionalInit<paths[Path], M>
  : never
type SuccessOf<Operation> = Operation extends { responses: infer Responses }
  ? Responses extends Record<PropertyKey, unknown>
    ? BodyOf<Responses[Extract<keyof Responses, 200 | 201 | 202 | 204>]>
    : never
  : never
type BodyOf<Reply> = Reply extends { content: { 'application/json': infer Body } }
  ? Body
  : undefined
export type Reply<M extends 'get' | Method, Path extends keyof paths> = M extends keyof paths[Path]
  ? SuccessOf<paths[Path][M]>
  : never

/**
 * Options for `useQuery` and its like: `useQuery(read('/api/keys', { params: { query: { limit: 50 } } }))`.
 * The key of its cache is the path and the parameters.
 */
export function read<Path extends Get>(path: Path, init?: Init<'get', Path>) {
  return {
    queryKey: [path, init ?? null] as const,
    queryFn: ({ signal }: { signal: AbortSignal }) => get(path, init, signal),
  }
}

/** Throws Problem. */
export async function get<Path extends Get>(
  path: Path,
  init?: Init<'get', Path>,
  signal?: AbortSignal,
): Promise<Reply<'get', Path>> {
  const { data } = await client.request('get', path as never, { ...init, signal } as never)
  return data as Reply<'get', Path>
}

/** Not randomUUID: browsers have that on secure pages only, and a gateway in a local network may be none. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * Changes something: `await change('patch', '/api/keys/{id}', { params: { path: { id } }, body })`. A POST carries an
 * Idempotency-Key, so that a repeat after a lost answer is done once: pass `idempotencyKey` to repeat under the same.
 * Throws Problem.
 */
export async function change<
  M extends Method,
  Path extends ClientPathsWithMethod<typeof client, M>,
>(
  method: M,
  path: Path,
  init?: Init<M, Path> & { readonly idempotencyKey?: string; readonly ifMatch?: number },
): Promise<Reply<M, Path>> {
  const { idempotencyKey, ifMatch, ...rest } = (init ?? {}) as {
    idempotencyKey?: string
    ifMatch?: number
  }
  const headers = {
    ...(method === 'post' && { 'idempotency-key': idempotencyKey ?? randomId() }),
    ...(ifMatch !== undefined && { 'if-match': `"${ifMatch}"` }),
  }
  const { data } = await client.request(method, path as never, { ...rest, headers } as never)
  return data as Reply<M, Path>
}
