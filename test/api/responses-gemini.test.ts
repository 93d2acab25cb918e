// Tests that a stored response of a Gemini model goes on by its id: calls and texts get their signatures back.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/wire/ir.ts'
import { openaiClient } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'

let gateway: Gateway
let vendor: ReturnType<typeof Bun.serve>
const bodies: JsonObject[] = []

/** Gemini 3: the first of several calls is signed, and so may a text be. Google, "Thought signatures". */
const said = [
  { text: 'Let me see.', thoughtSignature: 'c2lnMA==' },
  { functionCall: { id: 'g1', name: 'f', args: { a: 1 } }, thoughtSignature: 'c2lnMQ==' },
  { functionCall: { id: 'g2', name: 'f', args: { a: 2 } } },
]

beforeAll(async () => {
  vendor = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      bodies.push((await request.json()) as JsonObject)
      return Response.json({
        candidates: [{ content: { role: 'model', parts: said }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
        responseId: 'R1',
        modelVersion: 'gemini-3-pro',
      })
    },
  })
  const baseUrl = `http://127.0.0.1:${vendor.port}`
  const models = { gemini: 'gemini-3-pro-preview' }
  const channels = [{ id: 'google', vendor: 'google', baseUrl, key: 'AIza-0123456789', models }]
  gateway = await startGateway({ config: { channels } })
})

afterAll(async () => {
  await gateway.stop()
  await vendor.stop(true)
})

test('by the id of the response, as with its items sent back', async () => {
  const client = openaiClient(gateway.url)
  const parameters = { type: 'object', properties: { a: { type: 'number' } } }
  const tools = [{ type: 'function' as const, name: 'f', parameters, strict: false }]
  const settings = { model: 'gemini', tools }
  const first = await client.responses.create({ ...settings, input: 'go' })
  const results = first.output.flatMap((item) =>
    item.type === 'function_call'
      ? [{ type: 'function_call_output' as const, call_id: item.call_id, output: 'r' }]
      : [],
  )
  expect(results).toHaveLength(2)
  await client.responses.create({ ...settings, previous_response_id: first.id, input: results })
  const inline = [{ role: 'user' as const, content: 'go' }, ...first.output, ...results]
  await gateway.post('/v1/responses', { ...settings, input: inline })
  const [, byId, byItems] = bodies.map(({ contents }) => contents as JsonObject[])
  expect(byId?.[1]).toEqual({ role: 'model', parts: said })
  expect(byItems).toEqual(byId)
})
