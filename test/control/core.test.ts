// Tests what all routes of the control API have in common: access, refusals, repeats, versions, events.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { z } from '@hono/zod-openapi'
import { AdminError } from '../../src/admin/use-case.ts'
import type { Access } from '../../src/http/control/access.ts'
import { wholeNumber } from '../../src/http/control/parts.ts'
import { type ControlRoute, route } from '../../src/http/control/route.ts'
import { eventRoutes } from '../../src/http/control/routes/events.ts'
import { type ControlStage, controlStage, manager, origin, person } from '../support/control.ts'

const runs: unknown[] = []
const away = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
const failures: Readonly<Record<string, () => Error>> = {
  crash: () => new Error('the secret of the house'),
  away: () => new Error('cannot', { cause: away }),
  stale: () => new AdminError('stale', 'revision', 'changed since'),
  conflict: () => new AdminError('conflict', 'name', 'is taken'),
  reasoned: () => new AdminError('conflict', 'name', 'is taken', 'name_taken'),
}

const thing = z.object({ id: z.string(), size: z.number(), owner: z.string().nullable() })

function things(): readonly ControlRoute[] {
  const reading = (access: Access) =>
    route({
      method: 'get',
      path: `/api/${access}-things`,
      id: `list${access}`,
      tag: 'Things',
      summary: 'List things',
      access,
      query: z.strictObject({
        limit: wholeNumber(1, 9).default(5),
        account: z.string().optional(),
      }),
      reply: z.object({ limit: z.number(), account: z.string().nullable() }),
      run: async ({ query, scope }) => ({
        body: {
          limit: query.limit,
          account: access === 'public' ? null : (scope.account(query.account) ?? null),
        },
      }),
    })
  return [
    ...(['public', 'session', 'user', 'auditor', 'admin'] as const).map(reading),
    route({
      method: 'post',
      path: '/api/things',
      id: 'makeThing',
      tag: 'Things',
      summary: 'Make a thing',
      access: 'user',
      body: z.strictObject({ size: z.number().int(), apiSecret: z.string().optional() }),
      reply: thing,
      status: 201,
      async run({ body, scope }) {
        runs.push(body)
        return { body: { id: `thing-${runs.length}`, size: body.size, owner: scope.self } }
      },
    }),
    route({
      method: 'patch',
      path: '/api/things/{id}',
      id: 'changeThing',
      tag: 'Things',
      summary: 'Change a thing',
      access: 'user',
      params: z.strictObject({ id: z.string() }),
      body: z.strictObject({ size: z.number().optional() }),
      reply: z.object({ revision: z.number().nullable() }),
      async run({ params, ifMatch }) {
        const failure = failures[params.id]
        if (failure !== undefined) throw failure()
        return { body: { revision: ifMatch ?? null }, etag: 7 }
      },
    }),
    ...eventRoutes,
  ]
}

let stage: ControlStage
beforeAll(async () => {
  stage = await controlStage({ routes: things() })
})
afterAll(() => stage.close())

const ann = person('ann')
const admin = person('root', 'admin')
const auditor = person('eye', 'auditor')

describe('who may ask', () => {
  test('each access lets in the roles it names, and no others', async () => {
    const callers = {
      nobody: null,
      user: ann,
      auditor,
      admin,
      bound: manager('ann', ['read']),
      unbound: manager(null, ['read']),
      writer: manager(null, ['write']),
    }
    const table: Record<string, Record<string, number>> = {}
    for (const access of ['public', 'session', 'user', 'auditor', 'admin']) {
      table[access] = {}
      for (const [name, as] of Object.entries(callers)) {
        const { status } = await stage.send(as, 'GET', `/api/${access}-things`)
        table[access][name] = status
      }
    }
    const all = { user: 200, auditor: 200, admin: 200, bound: 200, unbound: 200, writer: 403 }
    expect(table).toEqual({
      public: { nobody: 200, ...all, writer: 200 },
      session: { nobody: 401, ...all, bound: 403, unbound: 403 },
      user: { nobody: 401, ...all },
      auditor: { nobody: 401, ...all, user: 403, bound: 403 },
      admin: { nobody: 401, ...all, user: 403, auditor: 403, bound: 403 },
    })
  })

  test('an auditor, and a key without the scope write, change nothing', async () => {
    for (const as of [auditor, manager(null, ['read']), manager('ann', ['read'])]) {
      const { status, json } = await stage.send(as, 'POST', '/api/things', { body: { size: 1 } })
      expect([status, json.code]).toEqual([403, 'forbidden'])
    }
  })

  test("a user's lists are its own, and another's account is not found", async () => {
    const list = async (as: typeof ann, account: string) =>
      (await stage.send(as, 'GET', `/api/user-things?account=${account}`)).json
    expect(await list(ann, 'ann')).toEqual({ limit: 5, account: 'ann' })
    expect(await list(ann, 'bob')).toMatchObject({ status: 404, code: 'not_found' })
    expect(await list(manager('ann', ['read']), 'bob')).toMatchObject({ status: 404 })
    expect(await list(admin, 'bob')).toEqual({ limit: 5, account: 'bob' })
    expect(await list(auditor, 'bob')).toEqual({ limit: 5, account: 'bob' })
  })

  test('nobody learns which paths there are; who is known is told', async () => {
    expect((await stage.send(null, 'GET', '/api/nothing')).status).toBe(401)
    expect((await stage.send(null, 'DELETE', '/api/public-things')).status).toBe(401)
    expect((await stage.send(ann, 'GET', '/api/nothing')).json).toMatchObject({
      status: 404,
      detail: 'Unknown path: GET /api/nothing',
    })
    const wrong = await stage.send(ann, 'DELETE', '/api/things')
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
  })
})

describe('changes in the name of a person', () => {
  const post = (headers: Readonly<Record<string, string>>, as = ann) =>
    stage.send(as, 'POST', '/api/things', { body: { size: 1 }, headers })

  test('are taken from pages of the gateway and from no others', async () => {
    for (const headers of [
      {},
      { origin },
      { origin, 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none' },
    ])
      expect((await post(headers)).status).toBe(201)
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://127.0.0.1:8788' },
      { 'sec-fetch-site': 'cross-site' },
      { origin, 'sec-fetch-site': 'same-site' },
    ])
      expect((await post(headers)).status).toBe(403)
  })

  test('a management key needs no page: it is in no browser', async () => {
    const headers = { origin: 'https://elsewhere.example' }
    expect((await post(headers, manager('ann', ['write']))).status).toBe(201)
  })
})

describe('what is refused', () => {
  test('names the field, whatever is wrong with it', async () => {
    const refused = async (body: unknown, headers = {}) => {
      const { status, json } = await stage.send(ann, 'POST', '/api/things', { body, headers })
      return [status, json.field]
    }
    expect(await refused({ size: 'big' })).toEqual([400, 'size'])
    expect(await refused({})).toEqual([400, 'size'])
    expect(await refused({ size: 1, color: 'red' })).toEqual([400, 'color'])
    expect(await refused('{"size":')).toEqual([400, 'body'])
    expect(await refused('[]')).toEqual([400, 'body'])
    expect(await refused({ size: 1 }, { 'content-type': 'text/plain' })).toEqual([415, undefined])
    expect(await refused(`{"size":1,"apiSecret":"${'x'.repeat(1_100_000)}"}`)).toEqual([
      413,
      undefined,
    ])
    for (const query of ['limit=0', 'limit=ten', 'limit=1e1', 'limit=', 'limit=1&limit=2', 'x=1']) {
      const { status, json } = await stage.send(ann, 'GET', `/api/user-things?${query}`)
      expect([status, json.field]).toEqual([400, query.startsWith('x') ? 'x' : 'limit'])
    }
  })

  test('is a problem with the id of the request, and nothing of what went wrong inside', async () => {
    const { status, headers, json } = await stage.send(ann, 'PATCH', '/api/things/crash', {
      body: {},
    })
    expect(status).toBe(500)
    expect(headers.get('content-type')).toBe('application/problem+json')
    expect(json.requestId).toBe(headers.get('x-request-id'))
    expect(JSON.stringify(json)).not.toContain('secret')
    expect(stage.crashes).toHaveLength(1)
  })

  test('a store that is away is 503, to be tried again', async () => {
    const { status, headers } = await stage.send(ann, 'PATCH', '/api/things/away', { body: {} })
    expect([status, headers.get('retry-after')]).toEqual([503, '2'])
  })

  test('what a use case refuses keeps its meaning', async () => {
    const statusOf = async (id: string) =>
      (await stage.send(ann, 'PATCH', `/api/things/${id}`, { body: {} })).status
    expect([await statusOf('stale'), await statusOf('conflict')]).toEqual([412, 409])
  })

  test('a use case may name the reason, which stands beside the code', async () => {
    const problem = async (id: string) =>
      (await stage.send(ann, 'PATCH', `/api/things/${id}`, { body: {} })).json
    expect(await problem('reasoned')).toMatchObject({ code: 'conflict', reason: 'name_taken' })
    expect(await problem('conflict')).not.toHaveProperty('reason')
  })
})

test('the version is the ETag, and If-Match hands it to the use case', async () => {
  const change = (match: string) =>
    stage.send(ann, 'PATCH', '/api/things/x', { body: {}, headers: { 'if-match': match } })
  const { headers, json } = await change('"6"')
  expect([headers.get('etag'), json]).toEqual(['"7"', { revision: 6 }])
  expect((await change('*')).json).toEqual({ revision: null })
  for (const match of ['6', 'W/"6"', '"six"']) expect((await change(match)).status).toBe(412)
})

describe('Idempotency-Key', () => {
  const post = (key: string, size: number, as = ann) =>
    stage.send(as, 'POST', '/api/things', { body: { size }, headers: { 'idempotency-key': key } })

  test('a repeat is answered as the first was, and runs nothing', async () => {
    const first = await post('one', 1)
    const before = runs.length
    const again = await post('one', 1)
    expect([again.status, again.json]).toEqual([201, first.json])
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(runs).toHaveLength(before)
  })

  test('another body is refused, another person has keys of their own', async () => {
    expect((await post('one', 2)).json).toMatchObject({ status: 422, code: 'key_reused' })
    expect((await post('one', 2, person('bob'))).status).toBe(201)
  })

  test('of many at once one runs', async () => {
    const before = runs.length
    const replies = await Promise.all(Array.from({ length: 10 }, () => post('crowd', 3)))
    expect(runs.length - before).toBe(1)
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201, 409]))
  })

  test('what was refused may be sent again', async () => {
    const send = (body: object) =>
      stage.send(ann, 'POST', '/api/things', { body, headers: { 'idempotency-key': 'fix' } })
    expect((await send({ size: 'x' })).status).toBe(400)
    expect((await send({ size: 4 })).status).toBe(201)
    expect((await post('with space', 1)).json.field).toBe('Idempotency-Key')
  })
})

describe('events', () => {
  test('name who changed what, without secrets; reading needs an auditor', async () => {
    const body = { size: 3, apiSecret: 'sk-of-the-vendor' }
    await stage.send(manager(null, ['write']), 'POST', '/api/things', { body })
    await stage.send(admin, 'PATCH', '/api/things/x', { body: { size: 2 } })
    await stage.send(ann, 'PATCH', '/api/things/x', { body: { size: 2 } })
    expect((await stage.send(ann, 'GET', '/api/events')).status).toBe(403)
    const { json } = await stage.send(auditor, 'GET', '/api/events?limit=2')
    expect(json.items).toMatchObject([
      { actor: 'account root', role: 'admin', action: 'changeThing', target: { id: 'x' } },
      { actor: 'management key mk_test', action: 'makeThing', detail: { size: 3 } },
    ])
    expect(JSON.stringify(json)).not.toContain('sk-of-the-vendor')
  })

  test('of one millisecond stay in their order', async () => {
    const sizes = Array.from({ length: 50 }, (_, index) => index + 1)
    for (const size of sizes) await stage.send(admin, 'PATCH', '/api/things/x', { body: { size } })
    const { json } = await stage.send(auditor, 'GET', `/api/events?limit=${sizes.length}`)
    const found = json.items.map(({ detail }: { detail: { size: number } }) => detail.size)
    expect(found).toEqual(sizes.toReversed())
  })

  test('come in pages that neither skip nor repeat', async () => {
    for (const size of [1, 2, 3]) await stage.send(admin, 'POST', '/api/things', { body: { size } })
    const ids: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const at: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const { json } = await stage.send(auditor, 'GET', `/api/events?limit=2${at}`)
      ids.push(...json.items.map(({ id }: { id: string }) => id))
      cursor = json.next
    }
    const all = await stage.send(auditor, 'GET', '/api/events?limit=500')
    expect(ids).toEqual(all.json.items.map(({ id }: { id: string }) => id))
    expect(new Set(ids).size).toBe(ids.length)
    const bad = await stage.send(auditor, 'GET', '/api/events?cursor=nonsense')
    expect([bad.status, bad.json.field]).toEqual([400, 'cursor'])
  })
})
