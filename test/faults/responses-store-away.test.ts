// Tests background responses that end while the database cannot be reached: they are stored when it is back.

import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/wire/ir.ts'
import { authorized, eventually } from '../support/clients.ts'
import { deploy, keyOf, postgresCases } from '../support/deployment.ts'
import { startProxy } from '../support/proxy.ts'

describe.each(postgresCases)('the database of $engine is away', ({ databaseUrl }) => {
  test('a background response that ends meanwhile is found when it is back', async () => {
    const proxy = await startProxy(databaseUrl ?? '')
    const { through } = proxy
    const deployment = await deploy({ databaseUrl, credits: { acme: '10' }, through })
    try {
      const { url, said } = await deployment.start()
      const ask = async (method: string, path: string, body?: object) => {
        const headers = authorized(keyOf('acme'))
        const sent = body && { body: JSON.stringify(body) }
        const reply = await fetch(`${url}/v1/responses${path}`, { method, headers, ...sent })
        return (await reply.json()) as JsonObject
      }
      const model = 'sandbox/chat+tokens=10+gap=50'
      const { id } = await ask('POST', '', { model, input: 'Hello', background: true })
      expect(await ask('GET', `/${id}`)).toMatchObject({ status: 'in_progress' })
      proxy.cut()
      await said('a response cannot be kept at the moment')
      proxy.restore()
      const done = await eventually(async () => {
        const found = await ask('GET', `/${id}`)
        return found['status'] === 'completed' ? found : undefined
      }, 20_000)
      expect(done['output']).toMatchObject([{ type: 'message', status: 'completed' }])
      const next = await ask('POST', '', { model, input: 'More', previous_response_id: String(id) })
      expect(next).toMatchObject({ status: 'completed' })
    } finally {
      await deployment.remove()
      await proxy.close()
    }
  }, 60_000)
})
