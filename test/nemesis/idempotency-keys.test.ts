// Tests that a request can be sent again under its Idempotency-Key after the database went away, and is made once.

import { describe, expect, test } from 'bun:test'
import pg from 'pg'
import { authorized, eventually } from '../support/clients.ts'
import { deploy, expectCleanAudit, keyOf, postgresCases } from '../support/deployment.ts'
import { startProxy } from '../support/proxy.ts'
import { chatReply, json, startUpstream, until } from '../support/upstream.ts'

const body = JSON.stringify({
  model: 'sandbox/chat',
  messages: [{ role: 'user', content: 'Hello' }],
})

const away = 'Idempotency-Keys cannot be looked up'

function ask(url: string, key = 'one-call'): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...authorized(keyOf('acme')), 'idempotency-key': key },
    body,
  })
}

describe.each(postgresCases)('$engine', ({ databaseUrl }) => {
  test('goes away between the taking of the key and the hold', async () => {
    const proxy = await startProxy(databaseUrl ?? '')
    const deployment = await deploy({
      databaseUrl,
      through: proxy.through,
      credits: { acme: '10' },
    })
    const direct = new pg.Client({ connectionString: deployment.databaseUrl ?? '' })
    try {
      await direct.connect()
      const server = await deployment.start()
      const { url } = server
      // The hold waits for this row.
      await direct.query('BEGIN')
      await direct.query(`SELECT 1 FROM ledger_account WHERE id = 'wallet:acme' FOR UPDATE`)
      const refused = ask(url)
      await eventually(async () => {
        const { rows } = await direct.query(`SELECT 1 FROM idempotency WHERE key = 'one-call'`)
        return rows.length === 1 || undefined
      })
      proxy.cut()
      await direct.query('ROLLBACK')
      const { status, headers } = await refused
      expect([status, headers.get('retry-after')]).toEqual([503, '1'])
      const others = await Promise.all(['two', 'three', 'four'].map((key) => ask(url, key)))
      expect(others.map((reply) => reply.status)).toEqual([503, 503, 503])
      await server.said(away)
      proxy.restore()

      const again = await eventually(async () => {
        const reply = await ask(url)
        const { error } = (await reply.json()) as { readonly error?: { readonly code: string } }
        const isSoon = reply.status === 503 || error?.code === 'request_in_progress'
        return isSoon ? undefined : [reply.status, error?.code]
      }, 15_000)
      expect(again).toEqual([200, undefined])
      expect(server.stderr.split(away)).toHaveLength(2)
      await expectCleanAudit(deployment)
    } finally {
      await direct.end()
      await deployment.remove()
      await proxy.close()
    }
  }, 60_000)

  test('goes away from a node that answers, and the node dies: another does not make the request again', async () => {
    const proxy = await startProxy(databaseUrl ?? '')
    const upstream = await startUpstream()
    const answer = Promise.withResolvers<void>()
    upstream.on('m', [until(answer.promise), json(200, chatReply('Hello'))])
    const deployment = await deploy({
      databaseUrl,
      credits: { acme: '10' },
      config: {
        ledger: { leaseMs: 2_000, fenceMs: 1_500, renewMs: 500 },
        channels: [
          { id: 'main', vendor: 'openai', baseUrl: upstream.url, key: 'k', models: ['m'] },
        ],
      },
    })
    const ask = (url: string) =>
      fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { ...authorized(keyOf('acme')), 'idempotency-key': 'once' },
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] }),
      })
    try {
      const env = { DATABASE_URL: proxy.through(deployment.databaseUrl ?? '') }
      const dying = await deployment.start({ env })
      const other = await deployment.start({ node: 1 })
      const first = ask(dying.url)
      await eventually(() => upstream.of('m').length === 1 || undefined)
      proxy.cut()
      answer.resolve()
      const reply = await first
      expect(reply.status).toBe(200)
      const text = await reply.text()
      await dying.kill()
      await other.said('nodes had not renewed in time')
      const early = await ask(other.url)
      expect([early.status, await early.json()]).toMatchObject([
        409,
        { error: { code: 'request_in_progress' } },
      ])
      await deployment.start()
      const again = await ask(other.url)
      expect([again.headers.get('idempotent-replayed'), await again.text()]).toEqual(['true', text])
      expect(upstream.of('m')).toHaveLength(1)
      await expectCleanAudit(deployment)
    } finally {
      await deployment.remove()
      await upstream.close()
      await proxy.close()
    }
  }, 60_000)
})
