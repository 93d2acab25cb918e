// Tests forms that are refused while they are sent, and what happens to the files of those that are not.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { toFile } from 'openai'
import { authorized, eventually, openaiClient } from '../support/clients.ts'
import {
  edits,
  end,
  type FormStage,
  file,
  formType,
  headOf,
  hear,
  paint,
  served,
  startFormStage,
  transcriptions,
} from '../support/forms.ts'
import { startGateway } from '../support/gateway.ts'
import { expectRefusal } from '../support/requests.ts'
import { wav } from '../support/samples.ts'
import { parseReply, portOf, RawClient } from '../support/socket.ts'
import { json, until } from '../support/upstream.ts'

let stage: FormStage
beforeAll(async () => {
  stage = await startFormStage()
})
afterAll(() => stage[Symbol.asyncDispose]())

const tooLarge = 'request_too_large'

describe('refused while it is still sent', () => {
  test('by its declared length, before a byte of it', async () => {
    for (const [path, length] of [
      [edits, 1_000_001],
      [transcriptions, 25_000_000],
    ] as const) {
      const client = await RawClient.open(portOf(stage.gateway.url))
      client.send(headOf(path, `content-length: ${length}`))
      const reply = parseReply(await client.until((text) => text.includes(tooLarge)))
      expect(reply.status).toBe(413)
      client.socket.destroy()
    }
  })

  test('by what it comes to: its client has the answer and not a broken connection', async () => {
    const large = Buffer.alloc(60_000_000)
    const sdk = openaiClient(stage.gateway.url)
    const call = sdk.images.edit({
      model: 'paint',
      prompt: 'p',
      image: await toFile(large, 'a.png'),
    })
    const error: unknown = await call.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ status: 413, code: tooLarge })
    const chunked = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.concat([...paint, file('image', 'a.png', large), end]))
        controller.close()
      },
    })
    const reply = await fetch(stage.gateway.url + edits, {
      method: 'POST',
      headers: { ...authorized(), 'content-type': formType },
      body: chunked,
    })
    await expectRefusal(reply, 413, tooLarge)
    expect(stage.openFiles()).toBe(0)
  })

  test('when it dawdles', async () => {
    const client = await RawClient.open(portOf(stage.gateway.url))
    client.send(headOf(transcriptions, 'content-length: 200000'))
    client.send(Buffer.concat([...hear, file('file', 'a.wav', wav(6)).subarray(0, 90_000)]))
    const reply = parseReply(await client.until((text) => text.includes('request_timeout'), 20_000))
    expect(reply.status).toBe(408)
    await eventually(() => (stage.openFiles() === 0 ? true : undefined))
    client.socket.destroy()
  })

  test('when its client leaves', async () => {
    const client = await RawClient.open(portOf(stage.gateway.url))
    client.send(headOf(transcriptions, 'content-length: 200000'))
    client.send(Buffer.concat([...hear, file('file', 'a.wav', wav(6)).subarray(0, 90_000)]))
    await eventually(() => (stage.openFiles() === 1 ? true : undefined))
    const asked = stage.upstream.requests.length
    client.socket.destroy()
    await eventually(() => (stage.openFiles() === 0 ? true : undefined))
    expect(stage.upstream.requests).toHaveLength(asked)
  })
})

describe('what lies on disk goes', () => {
  const sound = file('file', 'a.wav', wav(16))

  test('when the vendor fails', async () => {
    stage.upstream.on('*', [json(400, { error: { message: 'no', type: 'x', code: null } })])
    const reply = await stage.send(transcriptions, [...hear, sound, end])
    expect(reply.status).toBe(400)
    expect(stage.openFiles()).toBe(0)
  })

  test('when the client leaves while its vendor works', async () => {
    const never = Promise.withResolvers<void>()
    stage.upstream.on('*', [until(never.promise)])
    const asked = stage.upstream.requests.length
    const leaving = new AbortController()
    const reply = fetch(stage.gateway.url + transcriptions, {
      method: 'POST',
      headers: { ...authorized(), 'content-type': formType },
      body: Buffer.concat([...hear, sound, end]),
      signal: leaving.signal,
    })
    const { gone } = await stage.upstream.arrived(asked + 1)
    expect(stage.openFiles()).toBe(1)
    leaving.abort()
    await expect(reply).rejects.toThrow()
    await gone
    await eventually(() => (stage.openFiles() === 0 ? true : undefined))
    never.resolve()
    stage.upstream.on('*', served)
  })
})

test('an Idempotency-Key holds for the same form, whatever its boundary, and for no other file', async () => {
  stage.upstream.on('*', served)
  const ask = (seconds: number, key: string) => {
    const form = new FormData()
    form.append('model', 'hear')
    form.append('file', new File([Uint8Array.from(wav(seconds))], 'a.wav'))
    const headers = { authorization: `Bearer ${stage.gateway.key}`, 'idempotency-key': key }
    return fetch(stage.gateway.url + transcriptions, { method: 'POST', headers, body: form })
  }
  expect((await ask(16, 'k')).status).toBe(200)
  const asked = stage.upstream.requests.length
  const again = await ask(16, 'k')
  expect(again.status).toBe(200)
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  await expectRefusal(await ask(15, 'k'), 422, 'idempotency_key_reused')
  expect(stage.upstream.requests).toHaveLength(asked)
  expect(stage.openFiles()).toBe(0)
})

test('where there is no room on disk: 503, and room comes back', async () => {
  await using small = await startGateway({
    config: {
      uploads: { maxSpoolBytes: 300_000 },
      channels: [
        { id: 'main', vendor: 'openai', baseUrl: stage.upstream.url, key: 'k', models: ['hear'] },
      ],
      models: { hear: { kind: 'transcription', prices: { second: '100' } } },
    },
  })
  const post = (seconds: number) =>
    fetch(small.url + transcriptions, {
      method: 'POST',
      headers: { ...authorized(), 'content-type': formType },
      body: Buffer.concat([...hear, file('file', 'a.wav', wav(seconds)), end]),
    })
  for (let time = 0; time < 3; time++) {
    const error = await expectRefusal(await post(30), 503, 'service_unavailable')
    expect(error.message).toContain('no room for uploads')
    expect((await post(16)).status).toBe(200)
  }
})
