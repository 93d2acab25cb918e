// Tests faults within an event stream: cut, silent, endless, oversized, oddly divided, failing, out of order (U6, U9,
// U13-U15, U22, U23).

import { expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { residentBytes } from '../support/gateway.ts'
import { isLong } from '../support/long.ts'
import { expectCutStream, expectError, expectFailover, onStage } from '../support/scene.ts'
import {
  chunk,
  delta,
  event,
  forever,
  goodStream,
  halfClose,
  hang,
  lastChunk,
  reset,
  type Script,
  send,
  sseHead,
  streamEnd,
  usage,
  words,
} from '../support/upstream.ts'

const role = event(delta({ role: 'assistant', content: '' }))
const ten = Array.from({ length: 10 }, (_, n) => `piece ${n} `)

const cuts: readonly [name: string, ending: Script][] = [
  ['a reset', [reset]],
  ['a half close', [halfClose]],
  ['a good end of the chunks, without a finish', [send(lastChunk)]],
  ['half an event and a reset', [send('5\r\ndata:\r\n'), reset]],
  ['a broken chunk size', [send('zz\r\n')]],
]

for (const [name, ending] of cuts) {
  test(`U6 ten chunks, then ${name}: ten chunks, an error event, no [DONE], no failover`, async () => {
    await onStage({}, async (scene) => {
      scene.first.on('m', [send(sseHead), send(role), send(words(...ten)), ...ending])
      const seen = await scene.stream()
      expectCutStream(seen, ten.join(''))
      expect(seen.events.filter((data) => data.includes('piece'))).toHaveLength(10)
      expect(seen.text).not.toContain('data:\n')
      expect(scene.second.requests).toHaveLength(0)
      const row = await scene.gateway.row(seen.requestId)
      expect(row).toMatchObject({
        attempts: 1,
        channel: 'first',
        status: 200,
        errorCode: 'service_unavailable',
        usageSource: 'counted',
      })
      expect(row.errorCause).not.toBeNull()
      expect(row.input).toBeGreaterThan(0)
      expect(row.output).toBe(Math.ceil(ten.join('').length / 4))
    })
  })
}

const impatient = { timeouts: { firstEventMs: 500, semanticIdleMs: 500, idleMs: 300 } }

test('U9 only pings, from the beginning: they do not stand for an event, another channel serves', async () => {
  await onStage(impatient, async (scene) => {
    scene.first.on('m', [send(sseHead), forever(chunk(': ping\n\n'), 50)])
    await expectFailover(scene, await scene.stream(), 'Hello there')
    await scene.first.requests[0]?.gone
  })
})

test('U9 only pings after content: the stream ends in an error when nothing new comes', async () => {
  await onStage(impatient, async (scene) => {
    scene.first.on('m', [send(sseHead), send(words('Hi')), forever(chunk(': ping\n\n'), 50)])
    const seen = await scene.stream()
    expectCutStream(seen, 'Hi')
    expect(seen.elapsedMs).toBeGreaterThan(450)
    const row = await scene.gateway.row(seen.requestId)
    expect(row).toMatchObject({ errorCause: 'the vendor did not answer in time', output: 1 })
    expect(row.input).toBeGreaterThan(0)
    await scene.first.requests[0]?.gone
  })
})

test('U9 silence after content: the stream ends in an error', async () => {
  await onStage(impatient, async (scene) => {
    scene.first.on('m', [send(sseHead), send(words('Hi')), hang])
    const seen = await scene.stream()
    expectCutStream(seen, 'Hi')
    if (isLong) expect(seen.elapsedMs).toBeLessThan(1_500)
  })
})

/** Texts with characters of four UTF-8 lengths, and the stream around them as plain bytes. */
const texts = ['Aä', '漢字', '😀 end']
const plain = [
  ...texts.map((content) => JSON.stringify(delta({ content }))),
  JSON.stringify(delta({}, 'stop')),
]
const framed = (each: (data: string) => string) => [...plain.map(each), each('[DONE]')].join('')

const oddStreams: readonly [name: string, text: string][] = [
  ['CRLF line ends', framed((data) => `data: ${data}\r\n\r\n`)],
  ['CR line ends', framed((data) => `data: ${data}\r\r`)],
  ['mixed line ends', framed((data) => `: x\rdata: ${data}\r\n\n`)],
  ['a byte order mark', `\ufeff${framed((data) => `data: ${data}\n\n`)}`],
  ['no blank after the colon', framed((data) => `data:${data}\n\n`)],
  ['lines without a colon', framed((data) => `nonsense\ndata: ${data}\n\n`)],
  ['other fields', framed((data) => `event: message\nid: 1\nretry: 5\ndata: ${data}\n\n`)],
  [
    'data over several lines',
    framed((data) => `data: ${data.replace(',"object"', '\ndata: ,"object"')}\n\n`),
  ],
  ['no blank line at its end', framed((data) => `data: ${data}\n\n`).slice(0, -1)],
  ['no line end at its end', framed((data) => `data: ${data}\n\n`).slice(0, -2)],
]

/** What a client reads of a stream by the standard (WHATWG HTML, 9.2.6). */
function contentOf(text: string): string {
  let content = ''
  for (const block of text.split(/\n\n/)) {
    const data = block
      .split('\n')
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice(line[5] === ' ' ? 6 : 5))
      .join('\n')
    if (data === '' || data === '[DONE]') continue
    const choices = (JSON.parse(data) as { choices: { delta: { content?: string } }[] }).choices
    content += choices[0]?.delta.content ?? ''
  }
  return content
}

test('U13 odd but readable streams: the text is the same', async () => {
  await onStage({ alone: true }, async (scene) => {
    for (const [n, [name, text]] of oddStreams.entries()) {
      const model = `m-odd-${n}`
      scene.first.on(model, [send(sseHead), send(chunk(text)), send(lastChunk)])
      const seen = await scene.stream({ model })
      const content = contentOf(seen.text)
      const row = await scene.gateway.row(seen.requestId)
      expect({ name, content, error: row.errorCode }).toEqual({
        name,
        content: texts.join(''),
        error: null,
      })
      expect({ name, done: seen.text.includes('[DONE]') }).toEqual({ name, done: true })
    }
  })
})

test('U13 a stream cut at every byte: the text is the same', async () => {
  const whole = Buffer.from(framed((data) => `data: ${data}\r\n\r\n`))
  await onStage({ alone: true }, async (scene) => {
    const bytes = [...whole].map((byte) => chunk(new Uint8Array([byte])))
    scene.first.on('m', [send(sseHead), ...bytes.map((piece) => send(piece)), send(lastChunk)])
    expect(contentOf((await scene.stream()).text)).toBe(texts.join(''))
    for (let at = 1; at < whole.length; at++) {
      const model = `m-cut-${at}`
      scene.first.on(model, [
        send(sseHead),
        send(chunk(whole.subarray(0, at))),
        send(chunk(whole.subarray(at))),
        send(lastChunk),
      ])
      const seen = await scene.stream({ model })
      expect({ at, content: contentOf(seen.text) }).toEqual({ at, content: texts.join('') })
    }
  })
}, 30_000)

const mebibyte = 1 << 20
/** 64 MB of one event, as 64 chunks. */
const hugeEvent: Script = [
  send('400000\r\ndata: {"x":"'),
  ...Array.from({ length: 64 }, () => send(Buffer.alloc(mebibyte, 0x61))),
]

test('U14 an event of 64 MB before anything else: let go at 8 MiB, another channel serves, memory stays', async () => {
  await onStage({}, async (scene) => {
    const { gateway, first } = scene
    await scene.stream({ model: 'm-warm' })
    const before = residentBytes(gateway.pid)
    first.on('m', [send(sseHead), ...hugeEvent])
    const seen = await scene.stream()
    expect({ status: seen.status, content: seen.content }).toEqual({
      status: 200,
      content: 'Hello there',
    })
    expect(await gateway.row(seen.requestId)).toMatchObject({ attempts: 2, channel: 'second' })
    await first.of('m')[0]?.gone
    if (isLong) expect(residentBytes(gateway.pid) - before).toBeLessThan(24 * mebibyte)
  })
})

test('U14 an event of 64 MB after content: an error event, what was delivered is counted', async () => {
  await onStage({}, async (scene) => {
    const { gateway, first } = scene
    await scene.stream({ model: 'm-warm' })
    const before = residentBytes(gateway.pid)
    first.on('m', [send(sseHead), send(words('Hi')), ...hugeEvent])
    const seen = await scene.stream()
    expectCutStream(seen, 'Hi')
    expect(seen.text.length).toBeLessThan(4_096)
    expect(await gateway.row(seen.requestId)).toMatchObject({
      output: 1,
      errorCause: "the vendor's reply could not be read",
    })
    if (isLong) expect(residentBytes(gateway.pid) - before).toBeLessThan(24 * mebibyte)
  })
})

test('U15 a stream that never ends: the total limit ends it in an error, and counts what came', async () => {
  await onStage({ timeouts: { totalMs: 1_000 } }, async (scene) => {
    scene.first.on('m', [send(sseHead), forever(words('more '), 20)])
    const seen = await scene.stream()
    expectCutStream(seen, seen.content)
    const pieces = seen.content.split(' ').length - 1
    expect(pieces).toBeGreaterThan(10)
    if (isLong) expect(seen.elapsedMs).toBeLessThan(1_600)
    const row = await scene.gateway.row(seen.requestId)
    expect(row.output).toBe(Math.ceil((pieces * 5) / 4))
    await scene.first.requests[0]?.gone
  })
})

const refusal = { error: { message: 'No credit left.', type: 'insufficient_quota', code: null } }
const limited = { error: { message: 'Slow down.', type: 'rate_limit_error', code: 429 } }
const failing = { error: { message: 'Overloaded.', type: 'server_error', code: 'overloaded' } }

const failures: readonly [name: string, error: unknown, status: number, code: string][] = [
  ['want of quota', refusal, 503, 'service_unavailable'],
  ['a rate limit', limited, 429, 'rate_limit_exceeded'],
  ['a failure', failing, 500, 'server_error'],
]

for (const [name, error, status, code] of failures) {
  for (const [place, before] of [
    ['first', []],
    ['second', [send(role)]],
  ] as const) {
    test(`U22 the ${place} event is ${name}: ${status}, and with another channel a failover`, async () => {
      const script = [send(sseHead), ...before, send(event(error)), send(lastChunk)]
      await onStage({ alone: true }, async (scene) => {
        scene.first.on('m', script)
        const seen = await scene.stream()
        expectError(seen, status, code)
        expect(await scene.gateway.row(seen.requestId)).toMatchObject({
          status,
          errorCode: code,
          output: 0,
        })
      })
      await onStage({}, async (scene) => {
        scene.first.on('m', script)
        await expectFailover(scene, await scene.stream(), 'Hello there')
      })
    })
  }
}

test('U22 an error event after content: the stream ends in it, in our words', async () => {
  await onStage({}, async (scene) => {
    scene.first.on('m', [send(sseHead), send(words('Hi')), send(event(failing)), send(streamEnd)])
    expectCutStream(await scene.stream(), 'Hi')
    expect(scene.second.requests).toHaveLength(0)
  })
})

test('U23 deltas of tool calls out of order, and one index twice: passed on as they came', async () => {
  const call = (index: number, more: Record<string, unknown>) =>
    event(delta({ tool_calls: [{ index, ...more }] }))
  const calls = [
    call(1, { id: 'call_b', type: 'function', function: { name: 'second', arguments: '' } }),
    call(0, { id: 'call_a', type: 'function', function: { name: 'first', arguments: '{"a"' } }),
    call(1, { function: { arguments: '{}' } }),
    call(0, { function: { arguments: ':1}' } }),
    call(0, { id: 'call_a', type: 'function', function: { name: 'first', arguments: '' } }),
  ]
  const payloads = calls.map((piece) => piece.toString().split('\r\n')[1]?.trimEnd().slice(6) ?? '')
  await onStage({ alone: true }, async (scene) => {
    const finish = [
      event(delta({}, 'tool_calls')),
      event({ ...delta({}), choices: [], usage }),
      event('[DONE]'),
    ]
    scene.first.on('m', [
      send(Buffer.concat([Buffer.from(sseHead), ...calls, ...finish])),
      send(lastChunk),
    ])
    const seen = await scene.stream()
    expect(seen.events.slice(0, 5)).toEqual(payloads)
    expect(seen.events).toHaveLength(7)
    expect(await scene.gateway.row(seen.requestId)).toMatchObject({ input: 7, output: 5 })
  })
})

test('a stream that goes well is unchanged, but for the usage nobody asked for', async () => {
  await onStage({ alone: true }, async (scene) => {
    scene.first.on('m', goodStream('one', 'two'))
    expect((await scene.stream()).events).toHaveLength(5)
    const withUsage = await scene.stream({ stream_options: { include_usage: true } })
    expect(withUsage.events).toHaveLength(6)
    expect(withUsage.text).toContain(JSON.stringify(usage))
  })
})
