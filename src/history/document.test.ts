// Tests what is stored of one exchange: which parts become blobs, which stay text, and how other bodies are stored.

import { expect, test } from 'bun:test'
import { gunzipSync } from 'node:zlib'
import { type Exchange, entryOf } from './document.ts'

const png = Buffer.concat([
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
  Buffer.from(Array.from({ length: 200 }, (_, at) => (at * 89) % 256)),
])
const base64 = png.toString('base64')

function exchange(request: unknown, change: Partial<Exchange> = {}): Exchange {
  const bytes = (value: unknown) =>
    value instanceof Uint8Array ? value : new TextEncoder().encode(String(value))
  return {
    head: {
      requestId: 'req_1',
      account: 'ann',
      keyId: 'k',
      keyName: 'k',
      model: 'm',
      operation: 'chat',
      format: 'openai-chat',
      stream: false,
      at: 1,
      status: 200,
      mode: 'full',
      requestBytes: 1,
      replyBytes: 1,
      parameters: [],
      truncated: false,
      expiresAt: 2,
    },
    publicKey: null,
    request: bytes(
      typeof request === 'object' && !(request instanceof Uint8Array)
        ? JSON.stringify(request)
        : request,
    ),
    reply: new Uint8Array(0),
    files: [],
    sent: [],
    ...change,
  }
}

async function kept(request: unknown, change: Partial<Exchange> = {}) {
  const { message, blobs } = await entryOf(exchange(request, change))
  const text = gunzipSync(message.content ?? '').toString('utf8')
  return { document: JSON.parse(text), blobs }
}

test('files are taken out of bodies wherever they stand, and can be put back as they were', async () => {
  const asked: Record<string, unknown> = {
    url: `data:image/png;base64,${base64}`,
    named: `data:image/png;name=a.png;base64,${base64}`,
    bare: base64,
    urlSafe: base64.replaceAll('+', '-').replaceAll('/', '_'),
    markdown: `see ![it](data:image/png;base64,${base64}) and ${base64}`,
    tiny: 'data:image/gif;base64,R0lGODlhAQABAAAAACw=',
  }
  const { document, blobs } = await kept(asked)
  expect(blobs.map(({ type }) => type).sort()).toEqual(['image/gif', 'image/png'])
  const text = JSON.stringify(document)
  expect(text).not.toContain(base64.slice(0, 40))
  expect(text).not.toContain('R0lGOD')
  const back = text.replaceAll(/blob:([0-9a-f]{64})/g, (_, id) =>
    Buffer.from(blobs.find((blob) => blob.id === id)?.content ?? '').toString('base64'),
  )
  expect(JSON.parse(back).request).toEqual({ ...asked, urlSafe: base64 })
})

test('what is text stays text', async () => {
  const asked = {
    word: 'a'.repeat(511),
    hash: '0123456789abcdef'.repeat(8),
    prose: `${'word '.repeat(400)}end`,
    chinese: '汉字'.repeat(600),
    genome: `The sequence ${'ACGT'.repeat(300)} ends here.`,
    odd: 'b'.repeat(601),
    address: `https://example.com/${'path-segment/'.repeat(60)}`,
  }
  const { document, blobs } = await kept(asked)
  expect(document.request).toEqual(asked)
  expect(blobs).toEqual([])
})

test('what cannot be read as JSON is kept as text, and what is no text as a blob', async () => {
  expect((await kept('{"cut": "off he')).document.request).toBe('{"cut": "off he')
  const cut = new TextEncoder().encode('ends in half a letter: ü').slice(0, -1)
  expect((await kept(cut)).document.request).toBe('ends in half a letter: ')
  const { document, blobs } = await kept('{}', { reply: png })
  expect(document.reply).toBe(`data:image/png;base64,blob:${blobs[0]?.id}`)
  expect(Buffer.from(blobs[0]?.content ?? '').equals(png)).toBe(true)
  expect((await kept('{}')).document).toEqual({ request: {}, reply: null })
  const half = `{"image": "data:image/png;base64,${base64.slice(0, 200)}`
  const broken = await kept(half)
  expect(broken.blobs).toMatchObject([{ type: 'image/png' }])
  expect(broken.document.request).not.toContain(base64.slice(0, 40))
})

test('a stream of a format without a whole reply is kept as its events', async () => {
  const reply = new TextEncoder().encode(
    `event: image_generation.completed\ndata: {"type":"image_generation.completed","b64_json":"${base64}"}\n\n: quiet\n\ndata: [DONE]\n\n`,
  )
  const { head } = exchange('{}')
  const { document, blobs } = await kept('{}', {
    reply,
    head: { ...head, stream: true, format: 'openai-images' },
  })
  expect(document.reply).toEqual([
    { type: 'image_generation.completed', b64_json: `blob:${blobs[0]?.id}` },
  ])
  const garbage = new TextEncoder().encode('data: {not JSON\n\n')
  const other = await kept('{}', { reply: garbage, head: { ...head, stream: true } })
  expect(other.document.reply).toBe('data: {not JSON\n\n')
})
