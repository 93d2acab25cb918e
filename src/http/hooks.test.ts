// Tests the hooks that every request to a model passes: callers' limits, and repeated requests.

import { describe, expect, test } from 'bun:test'
import type { KeyPrincipal } from '../identity/principal.ts'
import type { Admitted, Limiter, Refused } from '../limits/limiter.ts'
import type { AdmittedRequest, Arrival, CoreServices } from '../operations/operation.ts'
import type { IdempotencyFound } from '../store/ledger.ts'
import { type Idempotency, idempotencyHook } from './idempotency.ts'
import { limitHook } from './limits.ts'

const principal = { kind: 'key', keyId: 'k', account: 'ann' } as KeyPrincipal
const state = {
  requests: { limit: 2, remaining: 1, resetMs: 30_000 },
  tokens: null,
}

function arrived(bodyBytes: number): Arrival {
  return { requestId: 'req_1', principal, bodyBytes, fields: {} }
}

function limits(decision: Admitted | Refused, scopes = [{ id: 'key:k', limits: {} }]) {
  const asked: number[] = []
  const refused: Refused[] = []
  const limiter: Limiter = {
    admit(_, tokens) {
      asked.push(tokens)
      return decision
    },
    state: () => state,
    close: async () => undefined,
  }
  const hook = limitHook({ limiter, scopes: () => scopes, refused: (each) => refused.push(each) })
  return { hook, asked, refused }
}

describe('limits', () => {
  test('who is under none is not looked up', () => {
    const { hook, asked } = limits({ admitted: true, state, finish: () => undefined }, [])
    expect(hook.admit?.(arrived(400))).toBeNull()
    expect(asked).toEqual([])
  })

  test('take a token for four bytes, and learn at the end what was used', async () => {
    const used: number[] = []
    const { hook, asked } = limits({ admitted: true, state, finish: (n) => used.push(n) })
    const arrival = arrived(401)
    const first = await hook.admit?.(arrival)
    first?.after?.({ tokens: 12, status: 200 })
    const second = await hook.admit?.(arrived(0))
    second?.after?.(null)
    expect(asked).toEqual([101, 0])
    expect(used).toEqual([12, 0])
    expect(arrival.fields).toMatchObject({ 'x-ratelimit-remaining-requests': '1' })
  })

  test('refuse with what stands in the way and when to come back', () => {
    const decision = { admitted: false, state, scope: 'key:k', kind: 'concurrent' } as const
    const { hook, refused } = limits({ ...decision, retryAfterMs: 900 })
    const arrival = arrived(1)
    expect(() => hook.admit?.(arrival)).toThrow('Rate limit reached for concurrent requests')
    expect(refused).toHaveLength(1)
    expect(arrival.fields).toMatchObject({ 'x-ratelimit-limit-requests': '2' })
  })
})

describe('a request sent again', () => {
  const none = {} as CoreServices
  const asked = (key: string | null, body = '{}') =>
    ({
      requestId: 'req_2',
      principal,
      options: { idempotencyKey: key },
      dialect: { client: { path: '/chat/completions' } },
      address: {},
      body: new TextEncoder().encode(body),
      digests: [],
      peek: { stream: false },
    }) as unknown as AdmittedRequest

  function kept(found: IdempotencyFound) {
    const hashes: string[] = []
    const freed: string[] = []
    const idempotency: Idempotency = {
      async begin({ bodyHash }) {
        hashes.push(bodyHash)
        return found
      },
      forget: (account, key, requestId) => freed.push(`${account} ${key} ${requestId}`),
    }
    return { hook: idempotencyHook(idempotency), hashes, freed }
  }

  test('without a key nobody is asked', async () => {
    const { hook, hashes } = kept({ state: 'new' })
    expect(await hook.before?.(asked(null), none)).toBeNull()
    expect(hashes).toEqual([])
  })

  test('a key is freed where no vendor was asked, and only there', async () => {
    const { hook, hashes, freed } = kept({ state: 'new' })
    const served = await hook.before?.(asked('one'), none)
    served?.after?.({ tokens: 1, status: 200 })
    expect(freed).toEqual([])
    const refused = await hook.before?.(asked('one', '{"n":1}'), none)
    refused?.after?.(null)
    expect(freed).toEqual(['ann one req_2'])
    expect(new Set(hashes).size).toBe(2)
  })

  test('is answered with the reply it had', async () => {
    const reply = { status: 200, contentType: 'application/json', body: '{"id":1}' }
    const { hook } = kept({ state: 'done', requestId: 'req_1', reply })
    expect(await hook.before?.(asked('one'), none)).toEqual({
      reply: {
        status: 200,
        body: '{"id":1}',
        stream: false,
        headers: {
          'content-type': 'application/json',
          'idempotent-replayed': 'true',
          'x-tollgate-original-request': 'req_1',
        },
      },
    })
  })
})
