// Sign-in: the addresses below /api/auth, and sessions. Code that talks to providers is loaded at the first sign-in.

import type { Config } from '../config/types.ts'
import type { LiveSession } from '../store/sign-in.ts'
import { type Attempt, inAttempt } from './attempt.ts'
import type { Auth, AuthOptions } from './auth.ts'
import { networkOf } from './network.ts'
import type { SessionPrincipal } from './principal.ts'
import { type IdentityProvider, type ProviderClient, ProviderError } from './provider.ts'
import { refusalReply, SignInRefused } from './refusal.ts'
import {
  cookieNames,
  freshMs,
  hashToken,
  idleMs,
  longestMs,
  noteMs,
  originOf,
  sessionHash,
} from './session-cookie.ts'
import type { Sessions } from './sessions.ts'

interface IdentityOptions extends AuthOptions {
  /** Called for each request, because a reload replaces the configuration. */
  readonly config: () => Pick<Config, 'identity' | 'server'>
  readonly ask: ProviderClient
  /** Counts an attempt of a network; returns how many milliseconds it must wait, or null if it may proceed. */
  readonly attempt: (network: string) => Promise<number | null>
  /** Called when a one-time link was used, which has made its account an admin. */
  readonly onLinkUsed: (used: {
    readonly account: string
    readonly address: string | null
  }) => Promise<void>
}

const authPath = '/api/auth'
const failurePath = `${authPath}/failed`
/** Most origins for which the library is kept set up; each origin has its own cookies. */
const mostOrigins = 8
const longestToken = 1_024

interface Incoming {
  readonly request: Request
  readonly url: URL
  readonly origin: string
  readonly attempt: Attempt
}

export function createIdentity(options: IdentityOptions): Sessions {
  const access = authAccess(options)
  const identity = { ...options, ...access }
  return {
    async sessionOf(headers) {
      const session = await liveSession(options, headers)
      return session === null ? null : principalOf(session)
    },
    async handler(request, address, requestId) {
      const publicUrl = options.config().server.publicUrl
      try {
        const origin = originOf(publicUrl, request.headers.get('host'))
        if (origin === null)
          throw new SignInRefused('invalid_request', 'The request names no host.')
        const url = new URL(request.url)
        const attempt: Attempt = {
          address,
          account: null,
          profile: null,
          state: null,
          failure: null,
        }
        return await inAttempt(attempt, () => answer(identity, { request, url, origin, attempt }))
      } catch (error) {
        return refusalReply(asRefusal(error), request, requestId)
      }
    },
  }
}

async function liveSession(
  { config, store }: IdentityOptions,
  headers: Headers,
): Promise<LiveSession | null> {
  const origin = originOf(config().server.publicUrl, headers.get('host'))
  const hash = origin === null ? null : sessionHash(headers, cookieNames(origin).session)
  if (hash === null) return null
  const nowMs = Date.now()
  const session = await store.sessions.find(hash, { nowMs, idleMs, longestMs })
  if (session !== null && nowMs - session.usedAt > noteMs)
    await store.sessions.used(session.id, nowMs)
  return session
}

function principalOf({ id, account, role, createdAt }: LiveSession): SessionPrincipal {
  return { kind: 'session', sessionId: id, account, role, signedInAt: createdAt }
}

/** The library and the providers of the current configuration, created at first use. */
function authAccess({ config, ask, ...options }: IdentityOptions) {
  let known: Config['identity'] | null = null
  let providers: Promise<readonly IdentityProvider[]> = Promise.resolve([])
  const auths = new Map<string, Promise<Auth>>()
  // A server that had no memory or files left may have them the next time.
  const forget = () => {
    known = null
  }
  const refresh = () => {
    const { identity } = config()
    if (identity === known) return
    known = identity
    auths.clear()
    providers = import('./providers.ts').then(({ createProviders }) =>
      createProviders(identity, ask),
    )
    providers.catch(forget)
  }
  return {
    providers() {
      refresh()
      return providers
    },
    auth(origin: string): Promise<Auth> {
      refresh()
      const made = auths.get(origin)
      if (made !== undefined) return made
      if (auths.size >= mostOrigins) auths.clear()
      const making = Promise.all([import('./auth.ts'), providers]).then(([{ createAuth }, list]) =>
        createAuth(options, origin, list),
      )
      auths.set(origin, making)
      making.catch(forget)
      return making
    },
  }
}

type Identity = IdentityOptions & ReturnType<typeof authAccess>

type Answer = (identity: Identity, incoming: Incoming, name: string) => Promise<Response>

/** Handlers by the path's first part below /api/auth, and the method. */
const answers: ReadonlyMap<string, Readonly<Record<string, Answer>>> = new Map(
  Object.entries({
    providers: { GET: listProviders },
    'sign-in': { GET: beginSignIn },
    callback: { GET: endSignIn },
    link: { GET: signInByLink, POST: beginLink },
    'sign-out': { POST: signOut },
  }),
)

async function answer(identity: Identity, incoming: Incoming): Promise<Response> {
  const [part = '', name = '', ...more] = incoming.url.pathname
    .slice(authPath.length + 1)
    .split('/')
  const methods = more.length === 0 ? answers.get(part) : undefined
  if (methods === undefined)
    throw new SignInRefused('not_found', 'There is nothing at this address.')
  const { method } = incoming.request
  const work = Object.hasOwn(methods, method) ? methods[method] : undefined
  if (work !== undefined) return work(identity, incoming, name)
  const allow = Object.keys(methods).join(', ')
  throw new SignInRefused('method_not_allowed', `This address takes ${allow}.`, { allow })
}

async function listProviders(identity: Identity): Promise<Response> {
  const providers = await identity.providers()
  const { mode } = await identity.signUp()
  const body = { providers: providers.map(({ id, name }) => ({ id, name })), signUp: mode }
  return Response.json(body, { headers: { 'cache-control': 'no-store' } })
}

/** Redirects a browser to a provider. */
async function beginSignIn(
  identity: Identity,
  incoming: Incoming,
  name: string,
): Promise<Response> {
  await countAttempt(identity, incoming)
  const { id } = await findProvider(identity, name)
  const { url, origin } = incoming
  const invitation = url.searchParams.get('invitation')
  const auth = await identity.auth(origin)
  const body = {
    provider: id,
    callbackURL: returnTo(url, origin),
    disableRedirect: true,
    additionalData: {
      provider: id,
      ...(invitation !== null && { invitation: hashToken(invitation.slice(0, longestToken)) }),
    },
  }
  const { headers } = incoming.request
  const reply = await byLibrary(incoming, () =>
    auth.api.signInSocial({ body, headers, asResponse: true }),
  )
  return redirect(await addressIn(reply), reply)
}

/** Redirects a browser to a provider whose identity is to be added to the signed-in account. */
async function beginLink(identity: Identity, incoming: Incoming, name: string): Promise<Response> {
  checkSameOrigin(incoming)
  await countAttempt(identity, incoming)
  const { id } = await findProvider(identity, name)
  const { request, url, origin } = incoming
  await freshSession(identity, request.headers)
  const auth = await identity.auth(origin)
  const { headers } = request
  const additionalData = { provider: id }
  const callbackURL = returnTo(url, origin)
  const body = { provider: id, callbackURL, disableRedirect: true, additionalData }
  const reply = await byLibrary(incoming, () =>
    auth.api.linkSocialAccount({ body, headers, asResponse: true }),
  )
  return Response.json(
    { url: await addressIn(reply) },
    { headers: withCookies(reply, { 'cache-control': 'no-store' }) },
  )
}

/** Handles a browser's return from a provider. */
async function endSignIn(identity: Identity, incoming: Incoming, name: string): Promise<Response> {
  await countAttempt(identity, incoming)
  const provider = await findProvider(identity, name)
  const { request, url, origin } = incoming
  // Checked before anything else of the answer is used.
  if (url.searchParams.has('code')) await provider.checkAnswerer(url.searchParams.get('iss'))
  incoming.attempt.account = (await liveSession(identity, request.headers))?.account ?? null
  const auth = await identity.auth(origin)
  const address = `${origin}${url.pathname}${url.search}`
  const reply = await byLibrary(incoming, () =>
    auth.handler(new Request(address, { headers: request.headers })),
  )
  const location = reply.headers.get('location')
  if (location === null)
    throw new SignInRefused('invalid_request', 'This sign-in cannot be finished.')
  const target = new URL(location, origin)
  if (target.pathname === failurePath) throw failureOf(target.searchParams.get('error') ?? '')
  return signedIn(identity, incoming, reply, pathOf(target))
}

async function signInByLink(identity: Identity, incoming: Incoming): Promise<Response> {
  await countAttempt(identity, incoming)
  const { request, url, origin } = incoming
  const token = url.searchParams.get('token') ?? ''
  const account =
    token === '' || token.length > longestToken
      ? null
      : await identity.store.signIns.useLink(hashToken(token), Date.now())
  if (account === null) {
    const message = 'This link is not valid: it was used before, or it has expired.'
    throw new SignInRefused('link_not_valid', `${message} Make another: tollgate admin link`)
  }
  await identity.onLinkUsed({ account, address: incoming.attempt.address })
  const auth = await identity.auth(origin)
  const { headers } = request
  const reply = await byLibrary(incoming, () =>
    auth.api.signInAccount({ body: { account }, headers, asResponse: true }),
  )
  return signedIn(identity, incoming, reply, '/')
}

async function signOut({ store }: Identity, incoming: Incoming): Promise<Response> {
  checkSameOrigin(incoming)
  const { session, secure } = cookieNames(incoming.origin)
  const hash = sessionHash(incoming.request.headers, session)
  if (hash !== null) await store.sessions.endByHash(hash)
  const attributes = `Max-Age=0; Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
  return new Response(null, {
    status: 204,
    headers: { 'set-cookie': `${session}=; ${attributes}`, 'cache-control': 'no-store' },
  })
}

/** Ends the browser's earlier session, so that nobody keeps one from before the sign-in. */
async function signedIn(
  { store }: Identity,
  { request, origin }: Incoming,
  reply: Response,
  path: string,
): Promise<Response> {
  const { session } = cookieNames(origin)
  const before = sessionHash(request.headers, session)
  const begins = reply.headers.getSetCookie().some((cookie) => cookie.startsWith(`${session}=`))
  if (before !== null && begins) await store.sessions.endByHash(before)
  return redirect(path, reply)
}

function redirect(location: string, reply: Response): Response {
  const headers = withCookies(reply, { location, 'cache-control': 'no-store' })
  headers.set('referrer-policy', 'no-referrer')
  return new Response(null, { status: 303, headers })
}

function withCookies(reply: Response, fields: Readonly<Record<string, string>>): Headers {
  const headers = new Headers(fields)
  for (const cookie of reply.headers.getSetCookie()) headers.append('set-cookie', cookie)
  return headers
}

async function addressIn(reply: Response): Promise<string> {
  const { url } = Object(await reply.json()) as { readonly url?: unknown }
  if (reply.ok && typeof url === 'string') return url
  throw new SignInRefused('invalid_request', 'This sign-in cannot be begun.')
}

async function findProvider(identity: Identity, name: string): Promise<IdentityProvider> {
  const found = (await identity.providers()).find(({ id }) => id === name)
  if (found !== undefined) return found
  throw new SignInRefused('not_found', 'There is no such provider.')
}

async function freshSession(identity: Identity, headers: Headers): Promise<void> {
  const session = await liveSession(identity, headers)
  if (session === null) throw new SignInRefused('not_signed_in', 'Sign in first.')
  if (Date.now() - session.createdAt <= freshMs) return
  throw new SignInRefused('not_fresh', 'Sign in again first: this asks for a sign-in of just now.')
}

/** Refuses requests from pages of other sites; a request without an origin is not from a browser. */
function checkSameOrigin({ request, origin }: Incoming): void {
  const named = request.headers.get('origin')
  const site = request.headers.get('sec-fetch-site')
  const isOwn = named === null || named === origin
  if (isOwn && (site === null || site === 'same-origin' || site === 'none')) return
  throw new SignInRefused('foreign_origin', 'This is taken only from pages of this gateway.')
}

async function countAttempt({ attempt: count }: Identity, { attempt }: Incoming): Promise<void> {
  const waitMs = await count(networkOf(attempt.address))
  if (waitMs === null) return
  const headers = { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1_000))) }
  throw new SignInRefused(
    'too_many_attempts',
    'Too many attempts to sign in. Try again later.',
    headers,
  )
}

/** Runs work of the library, but throws a failure that our code recorded in the attempt. */
async function byLibrary({ attempt }: Incoming, work: () => Promise<Response>): Promise<Response> {
  const reply = await work().catch((error: unknown) => {
    throw attempt.failure ?? error
  })
  if (attempt.failure !== null) throw attempt.failure
  return reply
}

/** Where the browser goes afterwards: always a path of this server, whatever was requested. */
function returnTo(url: URL, origin: string): string {
  const path = url.searchParams.get('return-to') ?? '/'
  // Browsers read a backslash as a slash, and ignore tabs and line breaks.
  const isPath = /^\/(?!\/)[\x21-\x7e]*$/.test(path) && !path.includes('\\')
  const target = isPath && URL.canParse(path, origin) ? new URL(path, origin) : null
  if (target?.origin !== origin || target.pathname.startsWith('//'))
    throw new SignInRefused('invalid_request', 'return-to: expected a path of this gateway.')
  return pathOf(target)
}

function pathOf({ pathname, search, hash }: URL): string {
  return `${pathname}${search}${hash}`
}

/** Translates the library's error code of a failed sign-in. */
function failureOf(code: string): SignInRefused {
  if (code === 'account_already_linked_to_different_user')
    return new SignInRefused('linked_elsewhere', 'This identity belongs to another account.')
  if (code.startsWith('state_') || code === 'nonce_binding_missing')
    return new SignInRefused(
      'invalid_state',
      'This sign-in was not begun in this browser, or took too long. Begin again.',
    )
  return new SignInRefused('denied', 'The provider did not sign you in. Begin again.')
}

/** Rethrows everything that is no refusal: an unreachable store, or a bug. */
function asRefusal(error: unknown): SignInRefused {
  if (error instanceof SignInRefused) return error
  if (!(error instanceof ProviderError)) throw error
  return error.kind === 'away'
    ? new SignInRefused('provider_away', `The provider ${error.message}. Try again later.`, {
        'retry-after': '5',
      })
    : new SignInRefused('not_believed', `The provider ${error.message}. Begin again.`)
}
