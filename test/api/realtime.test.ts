// Tests realtime sessions: what is refused before the socket, what is passed on unchanged, what is blocked, and how
// they end.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { eventually } from '../support/clients.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import {
  begin,
  end,
  handshake,
  RealtimeClient,
  type RealtimeVendor,
  speak,
  startRealtimeVendor,
  wellBehaved,
} from '../support/realtime.ts'
import { readRefusal } from '../support/requests.ts'
import { key, limited, realtimeConfig } from './realtime-stage.ts'

let vendor: RealtimeVendor
let other: RealtimeVendor
let gateway: Gateway

beforeAll(async () => {
  vendor = startRealtimeVendor()
  other = startRealtimeVendor()
  gateway = await startGateway({ config: realtimeConfig(vendor.url, other.url) })
})
afterAll(async () => {
  await gateway.stop()
  await Promise.all([vendor.close(), other.close()])
})

let client: RealtimeClient | null = null
beforeEach(() => {
  vendor.play = wellBehaved
  vendor.refusal = null
  other.refusal = null
  vendor.sessions.length = 0
  other.sessions.length = 0
})
afterEach(async () => {
  if (client?.received.closed === null) await client.leave()
  client = null
  expect(gateway.stderr).not.toContain('internal error:')
  expect(gateway.stderr).not.toContain(key)
})

async function open(options = {}): Promise<RealtimeClient> {
  client = await RealtimeClient.open(gateway.url, options)
  return client
}

const authorization = `Bearer ${testKey}`

describe('refused before the socket', () => {
  const cases: readonly (readonly [string, string, Record<string, string>, number, string])[] = [
    ['no key', '/v1/realtime?model=gpt-realtime', {}, 401, 'invalid_api_key'],
    [
      'a wrong key',
      '/v1/realtime?model=gpt-realtime',
      { authorization: 'Bearer sk-wrong-0123456789' },
      401,
      'invalid_api_key',
    ],
    [
      'a wrong key among the protocols',
      '/v1/realtime?model=gpt-realtime',
      { 'sec-websocket-protocol': 'realtime, openai-insecure-api-key.sk-wrong-0123456789' },
      401,
      'invalid_api_key',
    ],
    ['no model', '/v1/realtime', { authorization }, 400, 'invalid_request_error'],
    ['an empty model', '/v1/realtime?model=', { authorization }, 400, 'invalid_request_error'],
    ['a call', '/v1/realtime?call_id=rtc_1', { authorization }, 400, 'invalid_request_error'],
    [
      'an intent',
      '/v1/realtime?intent=transcription',
      { authorization },
      400,
      'invalid_request_error',
    ],
    ['an unknown model', '/v1/realtime?model=nobody', { authorization }, 404, 'model_not_found'],
    [
      'a model that chats',
      '/v1/realtime?model=gpt-4o',
      { authorization },
      400,
      'invalid_request_error',
    ],
    [
      'a ceiling on its cost',
      '/v1/realtime?model=gpt-realtime',
      { authorization, 'x-tollgate-max-cost': '1' },
      400,
      'invalid_request_error',
    ],
    [
      'a key of repeated requests',
      '/v1/realtime?model=gpt-realtime',
      { authorization, 'idempotency-key': 'again' },
      400,
      'invalid_request_error',
    ],
  ]
  test.each(cases)('%s', async (_name, target, headers, status, code) => {
    const reply = await handshake(gateway.url, target, headers)
    expect(reply.status).toBe(status)
    readRefusal(reply.body, reply.headers['content-type'], reply.headers['x-request-id'], code)
    expect(vendor.sessions).toHaveLength(0)
  })

  test('without an upgrade: 426', async () => {
    const reply = await fetch(`${gateway.url}/v1/realtime?model=gpt-realtime`)
    expect(reply.status).toBe(426)
    expect(reply.headers.get('upgrade')).toBe('websocket')
    expect(((await reply.json()) as { error: { code: string } }).error.code).toBe(
      'upgrade_required',
    )
  })

  test.each(['sessions', 'client_secrets', 'calls', 'transcription_sessions', 'translations'])(
    'realtime/%s is not offered',
    async (name) => {
      const reply = await gateway.post(`/v1/realtime/${name}`, {})
      expect(reply.status).toBe(404)
      const { error } = (await reply.json()) as { error: { code: string } }
      expect(error.code).toBe('unsupported_endpoint')
    },
  )

  test('a second session of a key that may have one', async () => {
    await open({ key: limited })
    const reply = await handshake(gateway.url, '/v1/realtime?model=gpt-realtime', {
      authorization: `Bearer ${limited}`,
    })
    expect(reply.status).toBe(429)
    await client?.leave()
    const again = await RealtimeClient.open(gateway.url, { key: limited })
    await again.leave()
  })
})

describe('the vendor refuses the handshake', () => {
  const said = (model: string) => {
    const status = Number(model.split('-')[1])
    const type = status === 400 ? 'invalid_request_error' : 'server_error'
    const error = { message: `no: ${key}`, type, code: 'odd', param: null }
    const headers = { 'content-type': 'application/json' }
    return Number.isNaN(status)
      ? null
      : new Response(JSON.stringify({ error }), { status, headers })
  }

  test.each([401, 429, 500, 503])('with %d: another channel takes the session', async (status) => {
    vendor.refusal = said
    const model = `refused-${status}`
    const opened = await open({ model })
    expect(other.sessions).toHaveLength(1)
    opened.send({ type: 'response.create' })
    opened.send({ type: 'response.create' })
    await opened.until('response.done', 2)
    const [second, row] = await eventually(async () => {
      const found = (await gateway.usage()).filter(({ modelAsked }) => modelAsked === model)
      return found.length === 2 ? found : undefined
    })
    expect(row).toMatchObject({ channel: 'last', attempts: 2, chargeNano: 897_600n })
    expect(row?.failedAttempts).toHaveLength(1)
    expect(second).toMatchObject({ channel: 'last', attempts: 1, failedAttempts: null })
  })

  test('with 400: its words reach the client, and no other is asked', async () => {
    vendor.refusal = said
    const target = '/v1/realtime?model=refused-400'
    const reply = await handshake(gateway.url, target, { authorization })
    expect(reply.status).toBe(400)
    expect(reply.body).not.toContain(key)
    expect(reply.body).toContain('no: ')
    expect(other.sessions).toHaveLength(0)
    const row = await gateway.row(reply.headers['x-request-id'] ?? '')
    expect(row).toMatchObject({ status: 400, chargeNano: 0n, usageSource: 'none' })
  })
})

describe('through the socket', () => {
  test('events pass as they are, both ways', async () => {
    const opened = await open()
    const created = opened.received.events[0]
    expect(created?.type).toBe('session.created')
    const odd = { type: 'conversation.item.create', item: { content: [{ text: 'ü 👋 \u2028' }] } }
    opened.send(odd)
    const session = await vendor.arrived(1)
    expect(await session.until('conversation.item.create')).toEqual(odd)
    const event = { type: 'conversation.item.added', item: { id: 'i', text: 'ß' }, unknown: [1.5] }
    session.send(event)
    expect(await opened.until('conversation.item.added')).toEqual(event)
  })

  test('what the vendor is shown: its own key, its own name of the model, and no protocol', async () => {
    await open({ model: 'renamed', protocols: ['realtime', `openai-insecure-api-key.${testKey}`] })
    expect(client?.socket.protocol).toBe('realtime')
    const session = await vendor.arrived(1)
    expect(session.url.pathname).toBe('/v1/realtime')
    expect(session.url.searchParams.get('model')).toBe('gpt-realtime-2025-08-28')
    expect(session.headers.get('authorization')).toBe(`Bearer ${key}`)
    expect(session.headers.get('sec-websocket-protocol')).toBeNull()
    expect(session.headers.get('openai-beta')).toBeNull()
  })

  test('the trial form of the interface is asked for as the client does', async () => {
    const beta = 'openai-beta.realtime-v1'
    const own = `openai-insecure-api-key.${testKey}`
    await open({ protocols: ['realtime', own, beta] })
    expect((await vendor.arrived(1)).headers.get('openai-beta')).toBe('realtime=v1')
    await client?.leave()
    await open({ headers: { 'OpenAI-Beta': 'realtime=v1' } })
    expect((await vendor.arrived(2)).headers.get('openai-beta')).toBe('realtime=v1')
  })

  test('Azure is asked by the name of its deployment, with its own header', async () => {
    await open({ model: 'deployed' })
    const { url, headers } = await vendor.arrived(1)
    expect(url.pathname + url.search).toBe('/v1/openai/v1/realtime?model=deployed')
    expect(headers.get('api-key')).toBe(key)
  })

  test('binary messages: of the vendor as they are, of the client where they are events', async () => {
    const opened = await open()
    const session = await vendor.arrived(1)
    session.raw(Uint8Array.of(0, 255, 128))
    expect(await opened.received.until(() => opened.received.binary[0])).toEqual(
      Uint8Array.of(0, 255, 128),
    )
    const event = new TextEncoder().encode('{"type":"input_audio_buffer.commit"}')
    opened.socket.send(event)
    expect(await session.received.until(() => session.received.binary[0])).toEqual(event)
    opened.socket.send(Uint8Array.of(123, 0, 34))
    expect((await opened.error()).code).toBe('invalid_request_error')
    expect(session.received.binary).toHaveLength(1)
  })

  test('a message of 64 KiB in pieces arrives whole, a larger one closes the session', async () => {
    const opened = await open()
    const session = await vendor.arrived(1)
    const text = 'x'.repeat(60_000)
    opened.send({ type: 'conversation.item.create', item: { text } })
    const sent = (await session.until('conversation.item.create'))['item'] as { text: string }
    expect(sent.text).toBe(text)
    session.send({ type: 'conversation.item.added', item: { text } })
    await opened.until('conversation.item.added')
    opened.send({ type: 'conversation.item.create', item: { text: text + text } })
    expect((await opened.closed()).code).toBe(1009)
    await session.closed()
  })

  test("a vendor's message above the bound ends the session, with an error first", async () => {
    const opened = await open()
    const session = await vendor.arrived(1)
    session.send({ type: 'conversation.item.added', text: 'x'.repeat(70_000) })
    expect((await opened.error()).code).toBe('service_unavailable')
    expect((await opened.closed()).code).toBe(1011)
    expect((await session.closed()).code).toBe(1009)
  })

  test("the operator's own rate limits are not shown", async () => {
    const opened = await open()
    const session = await vendor.arrived(1)
    session.send({ type: 'rate_limits.updated', rate_limits: [{ name: 'tokens', limit: 4 }] })
    session.send({ type: 'input_audio_buffer.committed' })
    await opened.until('input_audio_buffer.committed')
    expect(opened.received.of('rate_limits.updated')).toHaveLength(0)
  })

  test("errors pass without the vendor's key", async () => {
    const opened = await open()
    const session = await vendor.arrived(1)
    session.send({ type: 'error', error: { type: 'x', code: 'y', message: `bad key ${key}` } })
    expect((await opened.error()).message).toStartWith('bad key ')
    const failed = 'conversation.item.input_audio_transcription.failed'
    session.send({ type: failed, error: { message: `bad key ${key}` } })
    session.send({ type: 'something.new', error: { message: `bad key ${key}` } })
    await opened.until(failed)
    await opened.until('something.new')
    expect(JSON.stringify(opened.received.events)).not.toContain(key)
  })

  test('a quiet vendor is asked whether it lives, and its pings are answered', async () => {
    const opened = await open()
    const session = await vendor.arrived(1)
    session.ping()
    await session.control.until(() => session.control.of('pong')[0])
    // Each time it has been quiet for a heartbeat, as long as it answers.
    await session.control.until(() => session.control.of('ping')[2])
    session.send({ type: 'input_audio_buffer.committed' })
    await opened.until('input_audio_buffer.committed')
  })
})

describe('what is not let through', () => {
  test.each([
    ['no JSON', '{', null],
    ['a list', '[]', null],
    ['no type', '{"event_id":"mine"}', 'type'],
    ['a type that is no text', '{"type":1}', 'type'],
  ])('%s', async (_name, text, param) => {
    const opened = await open()
    opened.socket.send(text)
    const error = await opened.error()
    expect(error).toMatchObject({ type: 'invalid_request_error', param })
    opened.send({ type: 'input_audio_buffer.commit' })
    const session = await vendor.arrived(1)
    await session.until('input_audio_buffer.commit')
    expect(session.received.events).toHaveLength(1)
  })

  test.each([
    ['another model', { type: 'session.update', session: { model: 'gpt-4o' } }, 'session.model'],
    [
      'one for a response',
      { type: 'response.create', response: { model: 'gpt-4o' } },
      'response.model',
    ],
    ['no name', { type: 'session.update', session: { model: 1 } }, 'session.model'],
    [
      'a transcriber nobody has',
      {
        type: 'session.update',
        session: { audio: { input: { transcription: { model: 'unheard-of' } } } },
      },
      'session.audio.input.transcription.model',
    ],
    [
      'a transcriber in the trial form',
      {
        type: 'transcription_session.update',
        session: { input_audio_transcription: { model: 'unheard-of' } },
      },
      'session.input_audio_transcription.model',
    ],
  ])('%s', async (_name, event, param) => {
    const opened = await open()
    opened.send({ event_id: 'mine', ...event })
    expect(await opened.error()).toMatchObject({
      code: 'invalid_request_error',
      param,
      event_id: 'mine',
    })
    opened.send({ type: 'input_audio_buffer.commit' })
    const session = await vendor.arrived(1)
    await session.until('input_audio_buffer.commit')
    expect(session.received.events).toHaveLength(1)
  })

  test('a member named twice is refused, and one in an escape is seen for what it is', async () => {
    const opened = await open()
    const session = await vendor.arrived(1)
    opened.socket.send('{"type":"x","type":"session.upd\\u0061te","session":{"model":"gpt-4o"}}')
    await opened.error(1)
    opened.socket.send('{"type":"session.update","session":{"model":"gpt-4o","model":"renamed"}}')
    await opened.error(2)
    opened.socket.send(
      '{"type":"session.update","session":{"model":"gpt-4o","model":"gpt-realtime"}}',
    )
    await opened.error(3)
    opened.socket.send('{"type":"session.update","session":{"Model":"gpt-4o"}}')
    await opened.error(4)
    const twice = '"input_audio_transcription":{"model":"a","model":"b"}'
    opened.socket.send(`{"type":"session.update","session":{${twice}}}`)
    await opened.error(5)
    opened.socket.send('{"type":"session.update","session":{"mod\\u0065l":"gpt-realtime"}}')
    expect(await session.until('session.update')).toEqual({
      type: 'session.update',
      session: { model: 'gpt-realtime' },
    })
    expect(session.received.events).toHaveLength(1)
  })

  test('long numbers in settings without a model pass as they were written', async () => {
    const opened = await open()
    const session = await vendor.arrived(1)
    const sent = '{"type":"response.create","response":{"metadata":{"n":9007199254740993}}}'
    opened.socket.send(sent)
    await session.until('response.create')
    expect(session.received.texts).toContain(sent)
  })

  test("the session's own model passes under the vendor's name, and so does a transcriber", async () => {
    const opened = await open({ model: 'renamed' })
    const session = await vendor.arrived(1)
    const update = (model: string, transcriber: string) => ({
      type: 'session.update',
      session: { model, audio: { input: { transcription: { model: transcriber } } } },
    })
    const own = update('gpt-realtime-2025-08-28', 'gpt-4o-transcribe')
    opened.send(update('renamed', 'scribe'))
    expect(await session.until('session.update')).toEqual(own)
    // As the vendor itself then reports it.
    opened.send(own)
    expect(await session.until('session.update', 2)).toEqual(own)
  })

  test('nothing overtakes a transcriber whose price is being looked up', async () => {
    const opened = await open()
    const transcription = { model: 'scribe' }
    opened.send({ type: 'session.update', session: { audio: { input: { transcription } } } })
    opened.send({ type: 'input_audio_buffer.commit' })
    opened.send({ type: 'session.update', session: { model: 'gpt-realtime' } })
    opened.send({ type: 'response.create' })
    await opened.until('response.done')
    expect((await vendor.arrived(1)).received.events.map(({ type }) => type)).toEqual([
      'session.update',
      'input_audio_buffer.commit',
      'session.update',
      'response.create',
    ])
  })

  test('a transcriber without a price', async () => {
    const opened = await open()
    opened.send({
      type: 'session.update',
      session: { audio: { input: { transcription: { model: 'unpriced' } } } },
    })
    expect((await opened.error()).code).toBe('service_unavailable')
    expect((await vendor.arrived(1)).received.events).toHaveLength(0)
  })
})

describe('how it ends', () => {
  test("the client's code and reason reach the vendor", async () => {
    const opened = await open()
    const session = await vendor.arrived(1)
    await opened.leave(4_002, 'enough')
    expect(await session.closed()).toEqual({ code: 4_002, reason: 'enough' })
  })

  test("the vendor's code and reason reach the client", async () => {
    const opened = await open()
    ;(await vendor.arrived(1)).close(1_001, 'going away')
    expect(await opened.closed()).toEqual({ code: 1_001, reason: 'going away' })
    expect(opened.received.of('error')).toHaveLength(0)
  })

  test.each([
    ['with a code of its own', (close: Closing) => close(4_500, 'broken'), 4_500],
    ['without a word', null, 1_011],
  ])('the vendor breaks off %s: an error first', async (_name, how, code) => {
    const opened = await open()
    const session = await vendor.arrived(1)
    if (how === null) session.terminate()
    else how((with_, reason) => session.close(with_, reason))
    expect((await opened.error()).code).toBe('service_unavailable')
    expect((await opened.closed()).code).toBe(code)
  })

  test('a session nobody asked anything in leaves one record, of nothing', async () => {
    const reply = await handshake(gateway.url, '/v1/realtime?model=gpt-realtime', {
      authorization,
      'sec-websocket-protocol': 'realtime, x',
    })
    expect(reply.status).toBe(101)
    expect(reply.headers['sec-websocket-protocol']).toBe('realtime')
    const row = await gateway.row(reply.headers['x-request-id'] ?? '')
    expect(row).toMatchObject({ status: 200, chargeNano: 0n, usageSource: 'none', channel: 'main' })
    expect((await vendor.arrived(1)).received.closed?.code ?? 1_000).toBeGreaterThanOrEqual(1_000)
  })

  test('what a response came to is shown to whoever asks', async () => {
    const opened = await open({ headers: { 'x-tollgate-cost': 'true' } })
    opened.send({ type: 'response.create' })
    const { usage } = (await opened.until('response.done'))['response'] as {
      usage: { cost: string; total_tokens: number }
    }
    expect(usage).toMatchObject({ cost: '0.0008976', total_tokens: 30 })
  })

  test('two responses at once are two records of one session', async () => {
    other.play = (session, event) => {
      if (event.type !== 'response.create') return
      const [one, two] = [begin(session), begin(session)]
      speak(session, one, 1)
      speak(session, two, 1)
      end(session, two)
      end(session, one)
    }
    const model = 'refused-twice'
    const opened = await open({ model })
    opened.send({ type: 'response.create' })
    await opened.until('response.done', 2)
    const rows = await eventually(async () => {
      const found = (await gateway.usage()).filter(({ modelAsked }) => modelAsked === model)
      return found.length === 2 ? found : undefined
    })
    expect(rows.map(({ chargeNano }) => chargeNano)).toEqual([897_600n, 897_600n])
    expect(new Set(rows.map(({ requestId }) => requestId.split('-')[0])).size).toBe(1)
  })
})

type Closing = (code: number, reason: string) => void
