// Tests malicious bodies: they are refused or passed on quickly, and the server survives.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { isLong } from '../support/long.ts'
import { expectRefusal } from '../support/requests.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let gateway: Gateway
const path = '/v1/chat/completions'

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({
    config: {
      channels: [
        {
          id: 'main',
          vendor: 'openai',
          baseUrl: upstream.url,
          key: 'sk-up',
          models: ['cheap', 'dear'],
        },
        {
          id: 'renamed',
          vendor: 'openai',
          baseUrl: upstream.url,
          key: 'sk-up',
          models: { public: 'renamed-upstream' },
        },
        // Its requests are amended, so they are parsed completely.
        {
          id: 'amended',
          vendor: 'mistral',
          baseUrl: upstream.url,
          key: 'sk-up',
          models: ['amended'],
        },
      ],
      groups: { default: {}, poor: { models: ['cheap'] } },
      keys: [
        { name: 'rich', secret: 'sk-test-0123456789abcdef' },
        { name: 'poor', group: 'poor', secret: 'sk-poor-0123456789abcdef' },
      ],
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})
afterEach(async () => {
  const reply = await gateway.post(path, bodyWith('1'))
  expect(reply.status).toBe(200)
})

/** A chat request with an extra member of this JSON text. */
function bodyWith(extra: string, model = 'cheap'): string {
  return `{"model":"${model}","messages":[{"role":"user","content":"Hello"}],"extra":${extra}}`
}

/** The reply, and how long it took. */
async function timed(body: string): Promise<{ reply: Response; ms: number }> {
  const startedMs = performance.now()
  const reply = await gateway.post(path, body)
  return { reply, ms: performance.now() - startedMs }
}

function sent(): string {
  return upstream.requests.at(-1)?.body.toString('utf8') ?? ''
}

describe('refused', () => {
  const deep = 100_000
  const cases: readonly (readonly [string, string])[] = [
    ['arrays 100,000 deep', bodyWith('['.repeat(deep) + ']'.repeat(deep))],
    ['objects 100,000 deep', bodyWith('{"a":'.repeat(deep) + '1' + '}'.repeat(deep))],
    ['opened 100,000 times and never closed', bodyWith('['.repeat(deep))],
    [
      'deep within a message',
      `{"model":"cheap","messages":[{"role":"user","content":"a","x":${'['.repeat(deep)}${']'.repeat(deep)}}]}`,
    ],
    [
      'a string without end',
      `{"model":"cheap","messages":[{"role":"user","content":"${'a'.repeat(1e6)}`,
    ],
    ['many backslashes', `{"model":"cheap","x":"${'\\'.repeat(1_000_001)}"}`],
    ['a NUL outside a string', `{"model":"cheap",\u0000"messages":[]}`],
    ['a BOM in the middle', `{"model":"cheap",\ufeff"messages":[]}`],
    ['Infinity', bodyWith('Infinity')],
    ['hexadecimal', bodyWith('0x10')],
    [
      'a temperature beyond every number',
      `{"model":"cheap","temperature":1e999,"messages":[{"role":"user","content":"a"}]}`,
    ],
    ['a million empty messages', `{"model":"cheap","messages":[${'{},'.repeat(999_999)}{}]}`],
  ]
  test.each(cases)('%s', async (_name, body) => {
    const before = upstream.requests.length
    const { reply, ms } = await timed(body)
    await expectRefusal(reply, 400, 'invalid_request_error')
    if (isLong) expect(ms).toBeLessThan(250)
    expect(upstream.requests).toHaveLength(before)
  })
})

describe('passed on as they are', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['an array of a million elements', bodyWith(`[${'1,'.repeat(999_999)}1]`)],
    ['a million-letter number', bodyWith('9'.repeat(1_000_000))],
    ['numbers no double holds', bodyWith('[1e999,-1e999,1e-999,123456789012345678901234567890]')],
    ['__proto__', bodyWith('{"__proto__":{"polluted":true},"constructor":{"prototype":{"x":1}}}')],
    ['a lone surrogate as an escape', bodyWith('"\\ud800"')],
    ['an escaped NUL', bodyWith('"\\u0000"')],
    ['100 KB of one character', bodyWith(`"${'a'.repeat(100_000)}"`)],
    ['100 KB of unbroken Chinese', bodyWith(`"${'\u6c49'.repeat(34_000)}"`)],
    ['1 MB of escaped quotes', bodyWith(`"${'\\"'.repeat(500_000)}"`)],
  ]
  test.each(cases)('%s', async (_name, body) => {
    const { reply, ms } = await timed(body)
    expect(reply.status).toBe(200)
    if (isLong) expect(ms).toBeLessThan(500)
    expect(sent() === body).toBeTrue()
  })

  test('__proto__ at the top changes nothing for anybody', async () => {
    const body = `{"__proto__":{"model":"dear","stream":true},"model":"cheap","messages":[{"role":"user","content":"a"}]}`
    const reply = await gateway.post(path, body)
    expect(reply.headers.get('content-type')).toBe('application/json')
    const { model } = JSON.parse(sent()) as { model: string }
    expect(model).toBe('cheap')
  })
})

describe('a check that cannot be fooled', () => {
  const messages = '"messages":[{"role":"user","content":"a"}]'
  const poor = { authorization: 'Bearer sk-poor-0123456789abcdef' }
  const tricks: readonly (readonly [string, string])[] = [
    ['the dear one first', `{"model":"dear","model":"cheap",${messages}}`],
    ['the dear one last', `{"model":"cheap","model":"dear",${messages}}`],
    ['an escaped key first', `{"mod\\u0065l":"dear","model":"cheap",${messages}}`],
    ['an escaped key last', `{"model":"cheap","mod\\u0065l":"dear",${messages}}`],
    ['both escaped', `{"\\u006dodel":"cheap","mod\\u0065l":"dear",${messages}}`],
    ['an escaped value', `{"model":"d\\u0065ar",${messages}}`],
    ['far apart', `{"model":"cheap",${messages},"x":"${'a'.repeat(70_000)}","model":"dear"}`],
    ['inside a string', `{"x":"\\"model\\":\\"cheap\\"","model":"dear",${messages}}`],
    ['inside an object', `{"x":{"model":"cheap"},"model":"dear",${messages}}`],
    ['in other letters', `{"Model":"dear","model":"cheap",${messages}}`],
    ['with a space', `{"model ":"dear","model":"cheap",${messages}}`],
    ['three times', `{"model":"cheap","model":"dear","model":"cheap",${messages}}`],
  ]
  test.each(tricks)('%s', async (_name, body) => {
    const before = upstream.requests.length
    const reply = await gateway.post(path, body, { headers: poor })
    await reply.text()
    expect([200, 400, 404]).toContain(reply.status)
    if (reply.status !== 200) {
      expect(upstream.requests).toHaveLength(before)
      return
    }
    const got = sent()
    // Whichever JSON reader the vendor has, the first and the last `model` that it may read are the cheap one.
    const names = [...got.matchAll(/"((?:[^"\\]|\\.)*)"\s*:\s*"((?:[^"\\]|\\.)*)"/g)]
      .filter(([, key]) => JSON.parse(`"${key}"`) === 'model')
      .map(([, , value]) => JSON.parse(`"${value}"`) as string)
    expect((JSON.parse(got) as { model: string }).model).toBe('cheap')
    expect(new Set(names)).toEqual(new Set(['cheap']))
  })

  test('a repeated `stream` is refused by name, and nobody is asked', async () => {
    const before = upstream.requests.length
    const body = `{"model":"cheap",${messages},"stream":true,"stream":false}`
    const { param } = await expectRefusal(
      await gateway.post(path, body),
      400,
      'invalid_request_error',
    )
    expect(param).toBe('stream')
    expect(upstream.requests).toHaveLength(before)
  })

  test("a public name is replaced by the vendor's, and only it", async () => {
    const body = `{ "model" : "public", ${messages}, "x": "public" }`
    expect((await gateway.post(path, body)).status).toBe(200)
    expect(sent()).toBe(body.replace('"model" : "public"', '"model" : "renamed-upstream"'))
  })
})

describe('text that is no text', () => {
  const latin = (content: string) =>
    Buffer.from(`{"model":"cheap","messages":[{"role":"user","content":"${content}"}]}`, 'latin1')
  const cases: readonly (readonly [string, Buffer<ArrayBuffer>])[] = [
    ['a byte that begins nothing', latin('a\xffb')],
    ['an overlong quote', latin('a\xc0\xa2b')],
    ['half a character', latin('a\xe6\xb1')],
    ['a surrogate in UTF-8', latin('\xed\xa0\x80')],
    ['a raw NUL', latin('a\x00b')],
    ['a raw line end', latin('a\nb')],
  ]
  test.each(cases)('%s: refused, or passed on byte for byte', async (_name, body) => {
    const before = upstream.requests.length
    const reply = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body,
    })
    if (reply.status === 200) {
      expect(upstream.requests.at(-1)?.body.equals(Buffer.from(body))).toBeTrue()
    } else {
      await expectRefusal(reply, 400, 'invalid_request_error')
      expect(upstream.requests).toHaveLength(before)
    }
  })

  test.each(cases)(
    '%s, where the body is parsed for a vendor: never our own failure',
    async (_name, body) => {
      const reply = await fetch(gateway.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: Buffer.from(
          body.toString().replace('"cheap"', '"amended","max_completion_tokens":5'),
        ),
      })
      if (reply.status !== 200) await expectRefusal(reply, 400, 'invalid_request_error')
    },
  )

  test('a BOM before the body is no reason to refuse it, or is refused as such', async () => {
    const reply = await gateway.post(path, `\ufeff${bodyWith('1')}`)
    if (reply.status !== 200) {
      const { message } = await expectRefusal(reply, 400, 'invalid_request_error')
      expect(message).not.toBe('')
    } else expect(JSON.parse(sent())).toHaveProperty('model', 'cheap')
  })

  test('a NUL in the name of a model is a model nobody knows, and the record is written', async () => {
    const reply = await gateway.post(path, bodyWith('1', 'a\\u0000b\\ud800'))
    await expectRefusal(reply, 404, 'model_not_found')
    const row = await gateway.row(reply.headers.get('x-request-id') ?? '')
    expect(row.status).toBe(404)
  })
})
