// The control API: finds a request's route, authenticates the caller, and does what all routes have in common.

import { OpenAPIHono } from '@hono/zod-openapi'
import type { AdminContext } from '../../admin/use-case.ts'
import { AdminError } from '../../admin/use-case.ts'
import { newRequestId } from '../../history/caller.ts'
import type { ControlPrincipal } from '../../identity/principal.ts'
import type { EventChanges } from '../../store/control.ts'
import {
  actorOf,
  checkAccess,
  isStale,
  isUnsafe,
  scopeOf,
  signInAgain,
  unauthenticated,
} from './access.ts'
import { authenticateControl } from './authenticate.ts'
import { showing, watchChanges } from './changes.ts'
import { describe, securitySchemes } from './describe.ts'
import { createDocuments } from './documents.ts'
import { isNoted, madeByRoute, namedIn, note } from './events.ts'
import { bodyText, ifMatchOf, judged, parseBody, queryOf } from './input.ts'
import { ControlError, controlErrorOf, problemReply } from './problem.ts'
import { repeatOf, runOnce } from './repeat.ts'
import type { ControlRequest, ControlRoute } from './route.ts'
import type { ControlServices } from './services.ts'
import { asViewed, checkViewing } from './view-as.ts'

export interface Control {
  /** Never rejects. `peer`: the other end of the connection. */
  handle(request: Request, peer: string | null): Promise<Response>
}

/** A request that has not been matched to its route yet. */
interface Incoming {
  readonly request: Request
  readonly peer: string | null
  readonly requestId: string
}

export function createControl(services: ControlServices, routes: readonly ControlRoute[]): Control {
  const app = new OpenAPIHono<{ Bindings: Incoming & { principal: ControlPrincipal | null } }>()
  for (const route of routes) {
    const shown = showing(routes, route)
    describe(app.openAPIRegistry, route)
    const path = route.path.replace(/\{(\w+)\}/g, ':$1')
    app.on(route.method.toUpperCase(), path, (context) =>
      answerRoute({ route, shown }, services, context.env, context.req.param()),
    )
  }
  app.notFound((context) => {
    const { pathname } = new URL(context.req.url)
    const allow = methodsAt(routes, pathname)
    if (allow === '')
      throw new ControlError('not_found', `Unknown path: ${context.req.method} ${pathname}`)
    if (context.req.method === 'OPTIONS')
      return new Response(null, { status: 204, headers: { allow } })
    const message = `This path supports ${allow}, not ${context.req.method}.`
    throw new ControlError('method_not_allowed', message, null, { allow })
  })
  app.onError((error) => {
    throw error
  })
  const isPublic = publicRoutes(routes)
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: 'Tollgate', version: services.version },
  })
  const documents = createDocuments({
    ...document,
    components: { ...document.components, securitySchemes },
  })
  return {
    async handle(request, peer) {
      const requestId = newRequestId(Date.now())
      try {
        if (!URL.canParse(request.url))
          throw new ControlError('invalid', 'The header Host is not valid.', 'Host')
        const { pathname } = new URL(request.url)
        const shown = await documents(request, pathname)
        if (shown !== null) return withFields(shown, requestId)
        const principal = await authenticateControl(request, services)
        if (principal === null && !isPublic(request.method, pathname)) throw unauthenticated()
        const incoming = { request, peer, requestId, principal }
        return withFields(await app.fetch(request, incoming), requestId)
      } catch (error) {
        return withFields(refused(error, services, requestId), requestId)
      }
    },
  }
}

function refused(error: unknown, services: ControlServices, requestId: string): Response {
  const refusal = controlErrorOf(error)
  if (refusal.code === 'internal') services.onCrash(error, requestId)
  return problemReply(refusal, requestId)
}

/** Adds the headers of every reply. Browsers and proxies keep nothing unless the route says so. */
function withFields(reply: Response, requestId: string): Response {
  const { headers } = reply
  headers.set('x-request-id', requestId)
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
  headers.set('x-content-type-options', 'nosniff')
  headers.set('referrer-policy', 'no-referrer')
  return reply
}

/**
 * Default deny: a caller who is not authenticated is refused at all addresses, known or not, except those of these
 * routes.
 */
function publicRoutes(routes: readonly ControlRoute[]) {
  const open = routes
    .filter(({ access }) => access === 'public')
    .map(({ method, path }) => ({ method: method.toUpperCase(), matches: matcher(path) }))
  return (asked: string, pathname: string): boolean => {
    const method = asked === 'HEAD' ? 'GET' : asked
    return open.some((route) => route.method === method && route.matches.test(pathname))
  }
}

function matcher(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`)
}

function methodsAt(routes: readonly ControlRoute[], pathname: string): string {
  const methods = routes
    .filter(({ path }) => matcher(path).test(pathname))
    .flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]))
  return [...new Set(methods)].join(', ')
}

async function answerRoute(
  { route, shown }: { readonly route: ControlRoute; readonly shown: ControlRoute | null },
  services: ControlServices,
  incoming: Incoming & { principal: ControlPrincipal | null },
  params: Readonly<Record<string, string>>,
): Promise<Response> {
  const { request, peer, requestId } = incoming
  const { address } = services.callers().of(request.headers, peer)
  const principal = asViewed(incoming.principal, request)
  await checkViewing(route, { ...incoming, services, address })
  checkAccess(route, principal)
  const freshMinutes = services.config().identity.adminFreshMinutes
  const stale = isStale(route, principal, { freshMinutes, nowMs: Date.now() })
  // An administrator's own keys too: a management key would outlive the limit, and any key may spend for any account.
  if (stale && (route.access === 'admin' || route.showsSecret === true))
    throw signInAgain(freshMinutes)
  const text = isUnsafe(route.method) ? await bodyText(request, route) : ''
  const given = route.body === undefined ? undefined : parseBody(request, text, route)
  let detail: object | undefined
  let changed: EventChanges | null = null
  const asked: ControlRequest<object, object, object> = {
    params: judged(route.params, params, 'path'),
    query: judged(route.query, queryOf(new URL(request.url)), 'query'),
    body: judged(route.body, given, 'body'),
    text,
    principal,
    scope: scopeOf(principal, stale),
    admin: adminOf(services, principal),
    services,
    request,
    requestId,
    address,
    ifMatch: ifMatchOf(request.headers),
    noted: (given, changes = null) => {
      detail = given
      changed = changes
    },
  }
  const answered = async () => {
    try {
      return await route.run(asked)
    } catch (error) {
      // It may be there, as another account's.
      const isHidden = stale && error instanceof AdminError && error.refusal === 'not_found'
      throw isHidden ? signInAgain(freshMinutes) : error
    }
  }
  const run = async () => {
    const noted = isNoted(route, asked)
    const changes = noted && shown !== null ? await watchChanges(shown, asked) : null
    const answer = await answered()
    const reply = replyOf(route, answer)
    const finish = async () => {
      if (isUnsafe(route.method)) await services.refresh()
      if (!noted) return
      const target = { ...madeByRoute(answer), ...namedIn(asked.body, route), ...asked.params }
      const event = { ...asked, params: target, body: detail ?? asked.body }
      await note(route, event, changed ?? (await changes?.()) ?? null)
    }
    if (!isUnsafe(route.method) || route.reads === true) await finish()
    // What was changed stays so: told to try again, the caller would do it twice.
    else await finish().catch((error: unknown) => services.onCrash(error, requestId))
    return reply
  }
  const repeat = repeatOf(request, principal, text)
  return repeat === null ? run() : runOnce(repeat, services, run)
}

function adminOf(services: ControlServices, principal: ControlPrincipal | null): AdminContext {
  return {
    store: services.store,
    actor: actorOf(principal),
    nowMs: Date.now(),
    currency: async () => services.config().currency,
  }
}

function replyOf(route: ControlRoute, answer: Awaited<ReturnType<ControlRoute['run']>>): Response {
  if (answer instanceof Response) return answer
  if (answer === undefined) return new Response(null, { status: route.status ?? 204 })
  const { body, etag, headers } = answer
  return new Response(JSON.stringify(body), {
    status: route.status ?? 200,
    headers: {
      'content-type': 'application/json',
      ...(etag !== undefined && { etag: `"${etag}"` }),
      ...headers,
    },
  })
}
