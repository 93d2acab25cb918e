// Tests every route of the control API as nobody, another user, a user, an auditor, an admin and management keys.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { isUnsafe } from '../../src/http/control/access.ts'
import type { ControlRoute } from '../../src/http/control/route.ts'
import { controlRoutes } from '../../src/http/control/routes.ts'
import type { ControlPrincipal } from '../../src/identity/principal.ts'
import { type ControlStage, controlStage, manager, person } from '../support/control.ts'
import { owned } from './owned.ts'

let stage: ControlStage
let ids: Readonly<Record<string, Readonly<Record<string, string>>>>
beforeAll(async () => {
  stage = await controlStage()
  ids = await owned(stage.store)
})
afterAll(() => stage.close())

const callers: Readonly<Record<string, ControlPrincipal | null>> = {
  nobody: null,
  user: person('ann'),
  auditor: person('eye', 'auditor'),
  admin: person('root', 'admin'),
  'bound key that reads': manager('ann', ['read']),
  'bound key that writes': manager('ann', ['write']),
  'key that reads': manager(null, ['read']),
  'key that writes': manager(null, ['write']),
}

/** 401 or 403 if the caller is refused, null if the route is executed. */
function refusal(route: ControlRoute, name: string): 401 | 403 | null {
  const { access, method } = route
  const as = callers[name] ?? null
  if (access === 'public') return null
  if (as === null) return 401
  if (access === 'session') return as.kind === 'session' && !asksFresh(route) ? null : 403
  const unsafe = isUnsafe(method) && route.reads !== true
  if (as.kind === 'management' && !as.scopes.includes(unsafe ? 'write' : 'read')) return 403
  const role = as.kind === 'session' ? as.role : as.account === null ? 'admin' : 'user'
  if (role === 'auditor' && unsafe) return 403
  if (access === 'admin' && role !== 'admin') return 403
  return access === 'auditor' && role === 'user' ? 403 : null
}

/** Names nothing that exists, and has none of the required values. */
function sendTo(as: ControlPrincipal | null, route: ControlRoute, values = {}) {
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(Object(values)[name] ?? 'nothing'),
  )
  const body = route.body === undefined || !isUnsafe(route.method) ? {} : { body: {} }
  return stage.send(as, route.method.toUpperCase(), path, body)
}

/** Sign-in has different answers, and separate tests. */
const named = controlRoutes
  .filter(({ path }) => !path.startsWith('/api/auth/'))
  .map((route) => [`${route.method} ${route.path}`, route] as const)
/** Refuses callers who did not sign in recently, as a test's sessions did not. */
const asksFresh = ({ id }: ControlRoute) => id === 'unlinkMyIdentity'
const streams = (route: ControlRoute) => route.produces?.includes('text/event-stream') === true

describe('the table', () => {
  test('names each operation and each address once, below /api', () => {
    expect(new Set(controlRoutes.map(({ id }) => id)).size).toBe(controlRoutes.length)
    const addresses = controlRoutes.map(({ method, path }) => `${method} ${path}`)
    expect(new Set(addresses).size).toBe(controlRoutes.length)
    expect(controlRoutes.filter(({ path }) => !path.startsWith('/api/'))).toEqual([])
  })

  test('says what every value of an address is', async () => {
    const document = (await stage.send(null, 'GET', '/openapi.json')).json
    for (const { path, method, id } of controlRoutes) {
      const operation = document.paths[path]?.[method]
      expect([id, operation?.operationId]).toEqual([id, id])
      const inPath = (operation.parameters ?? [])
        .filter((each: { in: string }) => each.in === 'path')
        .map(({ name }: { name: string }) => name)
      expect(inPath.sort()).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort())
    }
  })
})

describe('who may ask', () => {
  test.each(named)('%s', async (_, route) => {
    for (const name of Object.keys(callers)) {
      if (streams(route) && refusal(route, name) === null) continue
      const { status } = await sendTo(callers[name] ?? null, route)
      const refused = refusal(route, name)
      if (refused === null) {
        expect([name, [401, 403].includes(status), status < 500]).toEqual([name, false, true])
      } else expect([name, status]).toEqual([name, refused])
    }
    expect(stage.crashes).toEqual([])
  })
})

describe("another's thing is not found", () => {
  const about = named.filter(
    // A month belongs to nobody.
    ([, { path, access }]) => /\{(?!month\})/.test(path) && ['user', 'session'].includes(access),
  )
  test.each(about)('%s', async (_, route) => {
    const values = ids[route.path]
    // A route about one thing of an account needs such a thing: `owned.ts` makes it.
    expect(values).toBeDefined()
    if (route.access === 'user') {
      const { status } = await sendTo(person('bob'), route, values)
      // An invalid change is refused before anything is looked up.
      expect(route.body === undefined ? [404] : [404, 400]).toContain(status)
      if (!isUnsafe(route.method))
        expect((await sendTo(manager('bob', ['read']), route, values)).status).toBe(404)
    } else
      expect((await sendTo(person('bob'), route, values)).status).toBe(asksFresh(route) ? 403 : 404)
    if (isUnsafe(route.method) || streams(route)) return
    expect((await sendTo(person('ann'), route, values)).status).toBeLessThan(400)
    expect((await sendTo(person('eye', 'auditor'), route, values)).status).toBeLessThan(400)
  })
})
