// Tests image models with names that an operator chose: identified by the client's name if nothing else is known.

import { expect, test } from 'bun:test'
import { vendors } from '../../src/vendors/registry.ts'
import { mediaCall, play } from '../support/media-tools.ts'

const image = { json: { created: 1, data: [{ b64_json: 'iVBORw0KGgo=' }] } }

test.each([
  ['gpt-image-1', { quality: 'hd' }, { quality: 'high' }],
  ['gpt-image-1', { quality: 'low' }, { quality: 'low' }],
  ['dall-e-2', { quality: 'hd' }, { quality: 'standard' }],
])('a deployment of %s asked for %j', async (known, said, sent) => {
  const adapter = vendors['azure-openai']?.adapters?.['openai-images']
  const fields = { ...said, model: known, prompt: 'a cat', response_format: 'url' }
  const call = mediaCall('openai-images', 'our-deployment', fields)
  const played = play('azure-openai', () => image, 'https://azure.example/openai')
  const open = async (asked: Parameters<typeof played.tools.ask>[0]) => {
    const reply = await played.tools.ask(asked)
    const chunks = (async function* () {
      yield reply.payload.read(0, reply.payload.size)
    })()
    return { status: reply.status, header: (name: string) => reply.header(name), chunks }
  }
  expect(adapter?.adapts?.(call)).toBe(known === 'gpt-image-1' || said.quality === 'hd')
  await adapter?.serve(call, { ...played.tools, open })
  const asked = played.requests[0]?.json
  expect(asked).toMatchObject({ ...sent, model: 'our-deployment' })
  expect(asked?.response_format).toBe(known === 'gpt-image-1' ? undefined : 'url')
})

test("a server's own model is asked in the client's words, whatever it is called here", () => {
  const adapter = vendors['openai-compatible']?.adapters?.['openai-images']
  const fields = { model: 'gpt-image-1', prompt: 'a cat', quality: 'hd' }
  expect(adapter?.adapts?.(mediaCall('openai-images', 'our-own', fields))).toBe(false)
  expect(adapter?.adapts?.(mediaCall('openai-images', 'gpt-image-1', fields))).toBe(true)
})
