// Compares replies for each format's clients, whole and streamed, with golden files, and reads them again.

import { afterAll, describe, expect, test } from 'bun:test'
import { GatewayError } from '../src/errors.ts'
import type { Writer, WriterHead } from '../src/wire/codec.ts'
import type { DialectId } from '../src/wire/formats.ts'
import type { ChatEvent } from '../src/wire/ir.ts'
import { GoldenFiles } from './golden/support/files.ts'
import { meaning } from './golden/support/meaning.ts'
import { brokenCases, replyCases } from './golden/support/replies.ts'
import { show } from './golden/support/show.ts'
import { readStream } from './golden/support/streams.ts'
import { breaches } from './replies.ts'
import { clientHub, clientOf, vendorHub } from './support/dialects.ts'

const served: readonly DialectId[] = [
  'openai-chat',
  'openai-completions',
  'openai-responses',
  'anthropic-messages',
  'gemini',
]
/** Formats whose replies may have several choices. */
const severalChoices: readonly DialectId[] = ['openai-chat', 'openai-completions', 'gemini']

/** Formats that cannot express a reply identically whole and streamed, and why. */
const differing: readonly string[] = [
  // A whole message has reasoning and text in separate fields, so their order is lost.
  'openai-chat reasoning-between',
  // A seal is known when its part ends: a whole reply has it before the part, a stream after it.
  'anthropic-messages call-sealed',
  'anthropic-messages text-sealed',
]

const files = new GoldenFiles([
  'whole.json',
  'stream.sse',
  'refused.json',
  'back.json',
  'back-whole.json',
])
const encoder = new TextEncoder()

function headOf(dialect: DialectId): WriterHead {
  const { idPrefix } = clientOf(dialect)
  return { id: `${idPrefix}1`, model: 'asked', createdAt: 1_800_000_000, wantsUsage: true }
}

function written(writer: Writer, events: readonly ChatEvent[]): string {
  return events.map((event) => writer.event(event)).join('')
}

function streamed(dialect: DialectId, events: readonly ChatEvent[]): string {
  const writer = clientHub(dialect).writer(headOf(dialect))
  return written(writer, events) + writer.end()
}

describe.each(served)('%s', (dialect) => {
  const hub = clientHub(dialect)
  const several = severalChoices.includes(dialect)
  const cases = replyCases.filter(([name]) => several || name !== 'choices-2')

  test.each(cases)('%s is told as written down', (name, events) => {
    files.hold(dialect, name, 'stream.sse', streamed(dialect, events))
    files.hold(dialect, name, 'whole.json', show(hub.writeWhole(events, headOf(dialect))))
  })

  test.each(cases)('%s is read again as it was told, whole and streamed', (name, events) => {
    const bytes = encoder.encode(streamed(dialect, events))
    const fromStream = readStream(dialect, [bytes])
    const fromWhole = vendorHub(dialect).readWhole(
      JSON.parse(JSON.stringify(hub.writeWhole(events, headOf(dialect)))),
      {},
    )
    expect(breaches(fromStream)).toEqual([])
    expect(breaches(fromWhole)).toEqual([])
    if (differing.includes(`${dialect} ${name}`)) {
      expect(meaning(fromStream)).not.toEqual(meaning(fromWhole))
      files.hold(dialect, name, 'back-whole.json', show(meaning(fromWhole)))
    } else expect(meaning(fromStream)).toEqual(meaning(fromWhole))
    // What the format cannot express is written down.
    const again = show(meaning(fromStream))
    if (again !== show(meaning(events))) files.hold(dialect, name, 'back.json', again)
  })

  const error = new GatewayError('service_unavailable', 'The stream ended early: it was cut.')

  test.each(brokenCases)('%s ends in an error', (name, events) => {
    const writer = hub.writer(headOf(dialect))
    const said = written(writer, events)
    const frames = writer.fail?.(error, 'req_1') ?? clientOf(dialect).errorFrames(error, 'req_1')
    files.hold(dialect, name, 'stream.sse', said + frames)
    const again = readStream(dialect, [encoder.encode(said + frames)])
    expect(again.at(-1)?.type).toBe('fault')
  })

  test('a refusal is told as written down', () => {
    const refusal = clientOf(dialect).refuse(error, 'req_1')
    files.hold(dialect, 'broken', 'refused.json', show(JSON.parse(refusal)))
  })
})

afterAll(() => expect(files.astray()).toEqual([]))
