// Tests the official openai SDK's client for Azure, which puts deployments into the path, on the built-in sandbox.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { AzureOpenAI, toFile } from 'openai'
import { ask, authorized } from '../support/clients.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import { expectRefusal, postJson } from '../support/requests.ts'
import { png, wav } from '../support/samples.ts'

let gateway: Gateway
let client: AzureOpenAI

function azureClient(deployment?: string): AzureOpenAI {
  return new AzureOpenAI({
    endpoint: gateway.url,
    apiKey: testKey,
    apiVersion: '2024-10-21',
    maxRetries: 0,
    ...(deployment !== undefined && { deployment }),
  })
}

/** As clients send it that name the model in the path alone. */
function postPlain(path: string, body: unknown): Promise<Response> {
  const headers = { 'api-key': testKey, 'content-type': 'application/json' }
  return postJson(`${gateway.url}/openai/deployments/${path}?api-version=2024-10-21`, body, headers)
}

beforeAll(async () => {
  gateway = await startGateway({
    config: {
      channels: [{ id: 'sandbox', vendor: 'sandbox', models: { 'sandbox/*': 'sandbox/*' } }],
    },
  })
  client = azureClient()
})
afterAll(() => gateway.stop())

describe("Azure's client", () => {
  const messages = ask('Hello')

  test('chats, whole and streamed', async () => {
    const whole = await client.chat.completions.create({ model: 'sandbox/chat', messages })
    expect(whole.choices[0]?.message.content).toMatch(/sandbox/i)
    const stream = client.chat.completions.stream({ model: 'sandbox/chat', messages })
    expect(await stream.finalContent()).toBe(whole.choices[0]?.message.content ?? null)
  })

  test('chats with the deployment of its settings', async () => {
    const asked = { model: '', messages }
    const reply = await azureClient('sandbox/chat').chat.completions.create(asked)
    expect(reply.model).toBe('sandbox/chat')
  })

  test('completes text and embeds', async () => {
    const text = await client.completions.create({ model: 'sandbox/completion', prompt: 'Hello' })
    expect(text.choices[0]?.text).toBeString()
    const { data } = await client.embeddings.create({ model: 'sandbox/embedding', input: 'Hello' })
    expect(data[0]?.embedding).toHaveLength(256)
  })

  test('makes and edits images', async () => {
    const asked = { model: 'sandbox/image', prompt: 'a red cat' }
    expect((await client.images.generate(asked)).data).toHaveLength(1)
    const image = await toFile(png(64, 64), 'a.png', { type: 'image/png' })
    const edited = azureClient('sandbox/image').images.edit({ ...asked, image })
    expect((await edited).data).toHaveLength(1)
  })

  test('speaks and transcribes, with the deployment of its settings for a form', async () => {
    const input = { model: 'sandbox/speech', voice: 'alloy', input: 'Hello' }
    expect((await client.audio.speech.create(input)).status).toBe(200)
    const listener = azureClient('sandbox/transcription')
    const file = await toFile(wav(1), 'a.wav', { type: 'audio/wav' })
    const heard = await listener.audio.transcriptions.create({ model: '', file })
    expect(heard.text).toBeString()
  })

  test('asks for a response and for the models, which have no deployment', async () => {
    const reply = await client.responses.create({ model: 'sandbox/chat', input: 'Hello' })
    expect(reply.output_text).toMatch(/sandbox/i)
    const names = (await client.models.list()).data.map(({ id }) => id)
    expect(names).toContain('sandbox/chat')
    expect((await client.models.retrieve('sandbox/chat')).id).toBe('sandbox/chat')
  })

  test('gets refusals in the usual form', async () => {
    const asked = client.chat.completions.create({ model: 'nobody', messages })
    const error: unknown = await asked.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ status: 404, code: 'model_not_found' })
  })
})

describe('below a deployment', () => {
  test('the deployment is the model of a body that names none', async () => {
    for (const body of [{ messages: ask('Hello') }, { model: null, messages: ask('Hello') }]) {
      const reply = await postPlain('sandbox%2Fchat/chat/completions', body)
      expect(reply.status).toBe(200)
      expect(await reply.json()).toMatchObject({ model: 'sandbox/chat' })
    }
  })

  test('names with a slash may stand there as they are, as openai-python writes them', async () => {
    const whole = await postPlain('sandbox/chat/chat/completions', { messages: ask('Hello') })
    expect(await whole.json()).toMatchObject({ model: 'sandbox/chat' })
    const asked = { prompt: 'Hello' }
    const text = await postPlain('sandbox/completion/completions', asked)
    expect(await text.json()).toMatchObject({ model: 'sandbox/completion' })
  })

  test('the model of a body comes first', async () => {
    const body = { model: 'sandbox/chat', messages: ask('Hello') }
    expect((await postPlain('elsewhere/chat/completions', body)).status).toBe(200)
  })

  test('faulty bodies are refused as elsewhere', async () => {
    const refusals = [
      [{ model: 5, messages: ask('Hello') }, 'model'],
      [{ temperature: 1 }, 'messages'],
      ['{', null],
      ['[]', null],
      ['', null],
    ] as const
    for (const [body, param] of refusals) {
      const reply = await postPlain('sandbox%2Fchat/chat/completions', body)
      expect((await expectRefusal(reply, 400, 'invalid_request_error')).param).toBe(param)
    }
    await expectRefusal(await postPlain('chat/nothing', {}), 404, 'not_found')
    const nameless = await postPlain('/chat/completions', { messages: ask('Hello') })
    await expectRefusal(nameless, 404, 'not_found')
    const unkeyed = await fetch(`${gateway.url}/openai/deployments/a/chat/completions`, {
      ...{ method: 'POST', body: '{}' },
    })
    await expectRefusal(unkeyed, 401, 'invalid_api_key')
    const batches = await fetch(`${gateway.url}/openai/batches`, { headers: authorized() })
    await expectRefusal(batches, 404, 'unsupported_endpoint')
  })
})
