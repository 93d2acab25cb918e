// Tests which channels serve and which do not.

import { expect, test } from 'bun:test'
import { listVendorModels, testChannel, withChannels } from './channels.ts'
import { loadConfiguration } from './configuration.ts'

test('without a file they are those of the environment, else the sandbox, which answers', async () => {
  const config = await loadConfiguration({ flags: {}, env: {} })
  const ids = (env: Record<string, string>) =>
    withChannels(config, env).channels.map(({ id }) => id)
  expect(ids({})).toEqual(['sandbox'])
  expect(ids({ OPENAI_API_KEY: 'sk-0123456789abcdef' })).toEqual(['openai'])
  const serving = withChannels(config, {})
  expect(await testChannel(serving, { id: 'sandbox' })).toMatchObject({
    ok: true,
    model: 'sandbox/chat',
  })
  const listed = await listVendorModels(serving, { id: 'sandbox' })
  expect(listed).toMatchObject({ channel: 'sandbox', vendor: 'sandbox' })
  expect(listed.models.length).toBeGreaterThan(0)
  for (const ask of [testChannel, listVendorModels]) {
    await expect(ask(serving, { id: 'sandbx' })).rejects.toMatchObject({
      refusal: 'not_found',
      field: 'id',
      message: 'there is no channel "sandbx"; did you mean sandbox?',
    })
  }
})

test('a channel of one format is asked in it', async () => {
  const paths: string[] = []
  const vendor = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      paths.push(new URL(request.url).pathname)
      await request.text()
      return Response.json({ error: { message: 'gone' } }, { status: 410 })
    },
  })
  try {
    const config = withChannels(await loadConfiguration({ flags: {}, env: {} }), {})
    for (const dialect of [null, 'openai-chat', 'openai-responses']) {
      const changes = {
        vendor: 'perplexity',
        baseUrl: vendor.url.origin,
        dialect,
        models: { m: 'm' },
      }
      const channels = config.channels.map((channel) => ({ ...channel, ...changes }))
      await testChannel({ ...config, channels }, { id: 'sandbox' })
    }
    expect(paths).toEqual(['/chat/completions', '/chat/completions', '/v1/responses'])
  } finally {
    await vendor.stop(true)
  }
})
