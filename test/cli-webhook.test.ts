// Tests the test message to a webhook of operators, from the command line to a server that checks its signature.

import { expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { useCli } from './support/cli.ts'

const cli = useCli()
const secret = 'of the operators alone'

function configWith(url: string): string {
  const config = join(cli.scratch, 'tollgate.json')
  writeFileSync(config, JSON.stringify({ webhooks: [{ id: 'ops', url, secret }] }))
  return config
}

async function webhookTest(config: string, id = 'ops', ...more: string[]) {
  return cli.run(['webhook', 'test', id, '--config', config, ...more])
}

test('is signed, says that nothing is wrong, and is told as taken', async () => {
  const posted = Promise.withResolvers<{ readonly body: string; readonly signed: string }>()
  using receiver = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const signed = request.headers.get('x-tollgate-signature') ?? ''
      posted.resolve({ body: await request.text(), signed })
      return new Response('taken')
    },
  })
  const config = configWith(receiver.url.href)
  const { code, err } = await webhookTest(config)
  expect({ code, err }).toEqual({ code: 0, err: 'ops took a test.\n' })
  const { body, signed } = await posted.promise
  const [, seconds = '', signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signed) ?? []
  expect(signature).toBe(createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex'))
  const event = { type: 'operator_alert', webhook: 'ops', state: 'test', severity: null }
  expect(JSON.parse(body)).toMatchObject(event)
  const asJson = await webhookTest(config, 'ops', '--json')
  expect(JSON.parse(asJson.out)).toEqual({ id: 'ops', ok: true, failure: null })
})

test('what the receiver answers is told, and the exit code says that it was not taken', async () => {
  using receiver = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => new Response('no such channel', { status: 404 }),
  })
  const { code, err } = await webhookTest(configWith(receiver.url.href))
  expect(code).toBe(1)
  expect(err).toContain('answered 404: no such channel')
  expect(err).not.toContain(secret)
})

test('a receiver that is away, and a webhook that nobody configured', async () => {
  const gone = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const config = configWith(gone.url.href)
  await gone.stop(true)
  const away = await webhookTest(config)
  expect([away.code, away.err]).toEqual([1, expect.stringContaining('cannot be reached')])
  const unknown = await webhookTest(config, 'oops')
  expect(unknown.code).toBe(1)
  expect(unknown.err).toContain('the configuration has no webhook oops; it has ops')
})
