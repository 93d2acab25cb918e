// Tests what is read from replies that are passed on unchanged: streamed, whole, too large to hold, and streams as
// lists.

import { expect, test } from 'bun:test'
import type { JsonObject } from '../ir.ts'
import { frameKind } from '../reply.ts'
import { gemini } from './dialect.ts'
import { ListFraming } from './list-framing.ts'
import { reply, streamOf } from './testing.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const counted = {
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
}

function watch(frames: readonly (JsonObject | string)[]) {
  const watcher = gemini.identity.watcher({ wantsUsage: true, quirks: {} })
  const kinds = frames.map((frame) => {
    const bytes = typeof frame === 'string' ? encoder.encode(frame) : streamOf([frame])
    const kind = watcher.frame(bytes, 0, bytes.length)
    if (kind === frameKind.usage) expect(watcher.amend(bytes, 0, bytes.length)).toEqual(bytes)
    return kind
  })
  return { watcher, kinds }
}

const { lifecycle, semantic, usage, fault, empty } = frameKind

test('texts, calls and the finish are seen, their bytes and the last count', () => {
  const { watcher, kinds } = watch([
    { modelVersion: 'm' },
    ': note\n\n',
    reply([{ text: 'é' }]),
    reply([{ functionCall: { name: 'a', args: { x: 1 } } }]),
    { ...reply([{ text: '' }], 'STOP'), ...counted },
  ])
  expect(kinds).toEqual([lifecycle, lifecycle, semantic, semantic, usage])
  expect(watcher.outputBytes).toBe(2 + '{"x":1}'.length)
  expect(watcher.finishReason).toBe('tool_calls')
  expect(watcher.usage).toMatchObject({ input: 3, output: 2 })
  expect(watcher.model).toBe('m')
  expect(watcher.held()).toBeNull()
})

test('W48: an error, in an event or plain, is a fault', () => {
  const error = { error: { code: 429, message: 'slow', status: 'RESOURCE_EXHAUSTED' } }
  for (const frame of [error, `${JSON.stringify([error])}\n\n`, 'data: x\n\n', 'data: 1\n\n']) {
    const { watcher, kinds } = watch([frame])
    expect(kinds).toEqual([fault])
    expect(watcher.fault?.kind).toBe(
      frame === 'data: x\n\n' || frame === 'data: 1\n\n' ? 'unreadable' : 'rate_limited',
    )
  }
})

function whole(body: unknown) {
  const peek = {} as Parameters<typeof gemini.identity.whole>[1]
  return gemini.identity.whole(
    encoder.encode(typeof body === 'string' ? body : JSON.stringify(body)),
    peek,
    {},
  )
}

test('a whole reply is judged and left as it is', () => {
  const body = { ...reply([{ text: 'a' }], 'STOP'), ...counted }
  const seen = whole(body)
  expect(decoder.decode(seen.bytes)).toBe(JSON.stringify(body))
  expect(seen).toMatchObject({
    fault: null,
    finishReason: 'stop',
    outputBytes: null,
    model: 'gemini-3-pro',
  })
  expect(whole(reply([{ text: 'é' }], 'STOP'))).toMatchObject({ usage: null, outputBytes: 2 })
  expect(whole({ promptFeedback: { blockReason: 'SAFETY' } })).toMatchObject({
    fault: null,
    finishReason: 'content_filter',
  })
})

test.each([['x'], ['[]'], [{}], [{ candidates: [] }]])('%j is no reply', (body) => {
  expect(whole(body).fault?.kind).toBe('unreadable')
})

test('the end of a large reply tells what the whole does', () => {
  const body = { ...reply([{ text: 'a"usageMetadata":1' }], 'STOP'), ...counted }
  const bytes = encoder.encode(JSON.stringify(body))
  expect(gemini.identity.tail(bytes.subarray(20), {})).toMatchObject({
    usage: { input: 3, output: 2 },
    finishReason: 'stop',
    model: 'gemini-3-pro',
  })
})

test('what it cost stands in the usage', () => {
  const shown = gemini.client.withCost(streamOf([{ ...reply([], 'STOP'), ...counted }]), '0.5')
  expect(decoder.decode(shown)).toContain('"usageMetadata":{"cost":"0.5","promptTokenCount":3')
})

test('a stream as a list is JSON, however it is cut, and with an error in it', () => {
  const frames = [reply([{ text: 'a' }]), { error: { code: 503 } }]
  const bytes = streamOf(frames)
  for (let at = 0; at <= bytes.length; at++) {
    const list = new ListFraming()
    const parts = [list.push(bytes.slice(0, at)), list.push(bytes.slice(at)), list.end()]
    expect(JSON.parse(parts.map((part) => decoder.decode(part)).join(''))).toEqual(frames)
  }
  expect(decoder.decode(new ListFraming().end())).toBe('[]')
})

test('a last count that leaves out the reply does not forget it', () => {
  const soFar = { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 2 }
  const frames = [
    { ...reply([{ text: 'a' }]), usageMetadata: { ...soFar, totalTokenCount: 17 } },
    { ...reply([], 'STOP'), usageMetadata: { promptTokenCount: 12, totalTokenCount: 12 } },
  ]
  const expected = { input: 12, output: 5, reasoning: 2 }
  expect(watch(frames).watcher.usage).toMatchObject(expected)
  const reader = gemini.vendor.hub.reader({})
  const events = frames.flatMap((frame) => reader.frame(JSON.stringify(frame)))
  expect(events.filter(({ type }) => type === 'usage').at(-1)).toMatchObject({ usage: expected })
})

test("OpenAI's end marker, which some vendors add, is not passed on, and no fault", () => {
  const { watcher, kinds } = watch([
    { ...reply([{ text: 'a' }], 'STOP'), ...counted },
    'data: [DONE]\n\n',
  ])
  expect([kinds, watcher.fault]).toEqual([[usage, empty], null])
})
