// Tests base64 in requests and replies, divided at any place.

import { expect, test } from 'bun:test'
import { Base64, JsonBody, Lifted } from './base64.ts'
import { MediaFault, type Payload, type Segment, type Spool } from './media.ts'

function held(bytes: Uint8Array, type = 'image/png'): Payload {
  return { type, size: bytes.length, read: (start, end) => bytes.subarray(start, end) }
}

const spool: Spool = {
  keeper(type) {
    const chunks: Uint8Array[] = []
    return {
      push: (chunk) => void chunks.push(chunk),
      end: () => held(Buffer.concat(chunks), type),
    }
  },
  inMemory: held,
  close: () => undefined,
}

const noTurn = () => Promise.resolve()

const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(9_000, 7)])

test('base64 of any part of a payload is that part of its base64', () => {
  for (const size of [0, 1, 2, 3, 4, 5, 10]) {
    const bytes = png.subarray(0, size)
    const text = bytes.toString('base64')
    const base64 = new Base64(held(bytes))
    expect(base64.size).toBe(text.length)
    for (let start = 0; start <= text.length; start++)
      for (let end = start; end <= text.length; end++)
        expect(Buffer.from(base64.read(start, end)).toString()).toBe(text.slice(start, end))
  }
})

function textOf(segments: readonly Segment[]): string {
  return segments
    .map((each) => Buffer.from(each instanceof Uint8Array ? each : each.read(0, each.size)))
    .join('')
}

test('payloads stand in a body where they were put', () => {
  const body = new JsonBody()
  const value = { a: body.hole(held(png)), b: ['"', body.hole(held(png), 'address')] }
  expect(JSON.parse(textOf(body.segments(value)))).toEqual({
    a: png.toString('base64'),
    b: ['"', `data:image/png;base64,${png.toString('base64')}`],
  })
})

test('long base64 is taken out of a reply, the rest stays as it is', async () => {
  const data = png.toString('base64')
  const long = 'a "quoted" text of \\ many words '.repeat(400)
  const reply = {
    images: [{ b64: data, small: png.subarray(0, 60).toString('base64') }],
    url: `data:image/png;base64,${data}`,
    long,
    escaped: 'x"\\"y',
    empty: '',
  }
  for (const text of [
    JSON.stringify(reply),
    JSON.stringify(reply, null, 2).replaceAll('/', '\\/'),
  ]) {
    const lifted = await Lifted.of(held(Buffer.from(text)), spool, noTurn)
    const json = lifted.json as typeof reply
    expect(json.long).toBe(long)
    expect(json.escaped).toBe(reply.escaped)
    const bytes = (value: string | undefined) => {
      const payload = lifted.bytesAt(value)
      expect(payload?.type).toBe('image/png')
      return Buffer.from(payload?.read(0, payload.size) ?? [])
    }
    expect(JSON.stringify(json).length).toBeLessThan(text.length - 2 * data.length + 400)
    expect(bytes(json.images[0]?.b64).equals(png)).toBe(true)
    expect(bytes(json.url).equals(png)).toBe(true)
    expect(bytes(json.images[0]?.small).equals(png.subarray(0, 60))).toBe(true)
    expect(lifted.bytesAt(json.empty)).toBeNull()
  }
})

test('base64 whose signs are escaped is read whatever pieces it comes in', async () => {
  const bytes = Buffer.concat([
    png,
    Buffer.from(Array.from({ length: 400_000 }, (_, at) => (at * at) % 251)),
  ])
  const escaped = bytes
    .toString('base64')
    .replaceAll('+', '\\u002B')
    .replaceAll('=', '\\u003d')
    .replaceAll('/', '\\/')
  for (const before of ['', 'a', 'ab', 'abc', 'abcd', 'abcde']) {
    const text = `{"before":"${before}","b64":"${escaped}"}`
    const lifted = await Lifted.of(held(Buffer.from(text)), spool, noTurn)
    const payload = lifted.bytesAt((lifted.json as { b64: string }).b64)
    expect(bytes.equals(payload?.read(0, payload.size) ?? Buffer.of())).toBe(true)
  }
})

test('what is no JSON, or no base64 where there should be some, is unreadable', async () => {
  const long = 'A'.repeat(5_001)
  for (const text of ['', '{', '{"a":"b', '<html>', `{"a":"${long}`, `{"a":"${long}=A"}`])
    await expect(Lifted.of(held(Buffer.from(text)), spool, noTurn)).rejects.toThrow(MediaFault)
})

test('megabytes of it, read a piece at a time', async () => {
  const large = Buffer.alloc(1_000_001, 'picture')
  const text = JSON.stringify({ a: large.toString('base64') })
  let turns = 0
  const turn = async () => void turns++
  const lifted = await Lifted.of(held(Buffer.from(text)), spool, turn)
  const payload = lifted.bytesAt((lifted.json as { a: string }).a)
  expect(large.equals(payload?.read(0, payload.size) ?? Buffer.of())).toBe(true)
  expect(turns).toBeGreaterThan(3)
})
