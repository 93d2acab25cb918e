// Requests to the control API: typed by its OpenAPI document, with refusals as errors that pages show.

import createClient, { type ClientPathsWithMethod, type MaybeOptionalInit } from 'openapi-fetch'
import type { components, paths } from './schema.d.ts'
import { viewedAccount } from './viewing.ts'

/** A schema of the OpenAPI document, by its name there. */
export type Shape<Name extends keyof components['schemas']> = components['schemas'][Name]

export type Reason = NonNullable<Shape<'Problem'>['reason']>

/**
 * A refusal by the API (RFC 9457); `offline` if no answer came, `unreadable` if the answer was not the gateway's (a
 * proxy's page).
 */
export class Problem extends Error {
  override readonly name = 'Problem'
  /** 0: no answer came. */
  readonly status: number
  readonly code: string
  /** The location: body, query or path. */
  readonly field: string | null
  readonly requestId: string | null
  /** The exact reason, for some refusals. */
  readonly reason: Reason | null

  constructor(status: number, code: string, message: string, rest: Partial<Problem> = {}) {
    super(message)
    this.status = status
    this.code = code
    this.field = rest.field ?? null
    this.requestId = rest.requestId ?? null
    this.reason = rest.reason ?? null
  }
}

/** Whether the fault may end by itself, without a change of the request. */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof Problem)) return false
  return error.status === 0 || error.status === 503 || error.code === 'unreadable'
}

const client = createClient<paths>({ baseUrl: '/', fetch: send })

async function send(request: Request): Promise<Response> {
  const viewed = viewedAccount()
  if (viewed !== null) request.headers.set('x-tollgate-view-as', viewed)
  const reply = await fetch(request)
  if (reply.ok && (reply.status === 204 || isJson(reply))) return reply
  throw await problemOf(reply)
}

function isJson(reply: Response): boolean {
  return /\bjson\b/.test(reply.headers.get('content-type') ?? '')
}

/** Reads a refusal; a reply that is not one (a proxy's page) becomes one by its status. */
export async function problemOf(reply: Response): Promise<Problem> {
  const requestId = reply.headers.get('x-request-id')
  const body = isJson(reply) ? await reply.json() : null
  if (typeof body?.code !== 'string' || typeof body.detail !== 'string')
    return new Problem(reply.status, 'unreadable', `HTTP ${reply.status}`, { requestId })
  const { field, reason } = body
  return new Problem(reply.status, body.code, body.detail, { field, reason, requestId })
}

/** The request for who is signed in; its refusal is an answer. */
export const mePath = '/api/me'

let onSignedOut = () => {
  // No callback is set yet.
}

/** Called when a request is refused because nobody is signed in any more. */
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener
}

let onNotFresh = () => {
  // No callback is set yet.
}

/** Called when a change is refused because the sign-in is too long ago. */
export function whenNotFresh(listener: () => void): void {
  onNotFresh = listener
}

/** Throws Problem, also for a reply that breaks off; throws the signal's reason if nobody waits any more. */
async function ask(method: string, path: string, init: object, signal?: AbortSignal) {
  try {
    return (await client.request(method as never, path as never, { ...init, signal } as never)).data
  } catch (error) {
    const isWho = method === 'get' && path === mePath
    if (error instanceof Problem && error.status === 401 && !isWho) onSignedOut()
    if (error instanceof Problem && error.reason === 'sign_in_again') onNotFresh()
    if (error instanceof Problem || signal?.aborted === true) throw error
    if (error instanceof SyntaxError) throw new Problem(200, 'unreadable', 'HTTP 200')
    throw new Problem(0, 'offline', 'The gateway cannot be reached.')
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

/** The most items that a page of a list may have. */
const mostOnPage = 500

type Lists = {
  [Path in Get]: Reply<'get', Path> extends { items: readonly unknown[]; next: string | null }
    ? Path
    : never
}[Get]

/** As `read`, with the items of every page of a list. */
export function readAll<Path extends Lists>(
  path: Path,
  query: Partial<Omit<QueryOf<Path>, 'limit' | 'cursor'>> = {},
) {
  return {
    queryKey: [path, 'all', query] as const,
    async queryFn({ signal }: { signal: AbortSignal }) {
      const items: ItemOf<Path>[] = []
      let cursor: string | undefined
      for (;;) {
        const params = { query: { ...query, limit: mostOnPage, cursor } }
        const reply: unknown = await ask('get', path, { params }, signal)
        const { items: more, next } = reply as ListOf<Path>
        items.push(...more)
        if (next === null) break
        cursor = next
      }
      return { items }
    },
  }
}

type QueryOf<Path extends Lists> = paths[Path] extends {
  get: { parameters: { query?: infer Query } }
}
  ? NonNullable<Query>
  : never
type ItemOf<Path extends Lists> =
  Reply<'get', Path> extends { items: readonly (infer Item)[] } ? Item : never
interface ListOf<Path extends Lists> {
  readonly items: readonly ItemOf<Path>[]
  readonly next: string | null
}

/** Throws Problem. */
export async function get<Path extends Get>(
  path: Path,
  init?: Init<'get', Path>,
  signal?: AbortSignal,
): Promise<Reply<'get', Path>> {
  return (await ask('get', path, { ...init }, signal)) as Reply<'get', Path>
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
  return (await ask(method, path, { ...rest, headers })) as Reply<M, Path>
}
