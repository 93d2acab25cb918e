// Tests that a request that was refused because the database went away can be sent again under its Idempotency-Key.

import { describe, expect, test } from 'bun:test'
import pg from 'pg'
import { authorized, eventually } from '../support/clients.ts'
import { deploy, expectCleanAudit, keyOf, postgresCases } from '../support/deployment.ts'
import { startProxy } from '../support/proxy.ts'

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
})
