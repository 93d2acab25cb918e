// Compares replies from vendors' documentation with how they are read: whole, streamed and divided anywhere.

import { afterAll, describe, expect, test } from 'bun:test'
import type { DialectId } from '../src/wire/formats.ts'
import { fold } from '../src/wire/hub/fold.ts'
import type { ChatEvent } from '../src/wire/ir.ts'
import { GoldenFiles, goldenPaths, readGolden } from './golden/support/files.ts'
import { show } from './golden/support/show.ts'
import { chopped, framesOf, readStream } from './golden/support/streams.ts'
import { breaches } from './replies.ts'
import { dialectOf, vendorHub } from './support/dialects.ts'
import { eventStream } from './support/event-stream.ts'

interface Case {
  readonly dialect: DialectId
  readonly name: string
  readonly whole: string | null
  readonly stream: string | null
}

const files = new GoldenFiles(['events.json'])
const encoder = new TextEncoder()

/** A reply may exist whole, streamed or both; Bedrock's binary events are stored as JSON, one a line. */
function casesIn(paths: readonly string[]): Case[] {
  const named = paths.filter((path) => path.includes('.vendor.'))
  const stems = new Set(named.map((path) => path.replace(/\.vendor\..*$/, '')))
  const pathOf = (stem: string, kinds: readonly string[]): string | null =>
    kinds.map((kind) => `${stem}.vendor.${kind}`).find((path) => named.includes(path)) ?? null
  return [...stems].map((stem) => {
    const [dialect = '', name = ''] = stem.split('/')
    const stream = pathOf(stem, ['sse', 'jsonl'])
    return { dialect: dialect as DialectId, name, whole: pathOf(stem, ['json']), stream }
  })
}

function bytesOf(path: string): Uint8Array {
  const text = readGolden(path)
  if (!path.endsWith('.jsonl')) return encoder.encode(text)
  return eventStream(text.split('\n').filter((line) => line !== ''))
}

function readWhole(dialect: DialectId, path: string): readonly ChatEvent[] {
  return vendorHub(dialect).readWhole(JSON.parse(readGolden(path)), {})
}

/** If there are no citations, OpenAI's whole message says so, and a stream does not. */
const noCitations = { 'openai-chat': { delta: { annotations: [] } } }

/** The content of a reply in any form; a call's input as a value, since white space is not part of it. */
function meaning(events: readonly ChatEvent[]): unknown {
  const { choices, ...reply } = fold(events)
  return {
    ...reply,
    choices: choices.map(({ parts, extras, ...choice }) => ({
      ...choice,
      extras: extras.filter((extra) => !Bun.deepEquals(extra, noCitations)),
      parts: parts.map(({ text, ...part }) => {
        const isJson = part.head.type === 'tool-call' && part.head.custom !== true
        return { ...part, text: isJson ? JSON.parse(text) : text }
      }),
    })),
    fault: events.find((event) => event.type === 'fault') ?? null,
  }
}

const cases = casesIn(goldenPaths()).filter(
  ({ dialect }) => dialectOf(dialect).vendor?.hub !== undefined,
)
const streamed = cases.flatMap(({ stream, ...rest }) =>
  stream === null ? [] : [{ ...rest, stream, bytes: bytesOf(stream) }],
)

describe('what a vendor says', () => {
  test.each(cases)('$dialect $name is read as written down', ({ dialect, name, whole, stream }) => {
    const events =
      stream === null ? readWhole(dialect, whole ?? '') : readStream(dialect, [bytesOf(stream)])
    files.hold(dialect, name, 'events.json', show(events))
    expect(breaches(events)).toEqual([])
  })

  test.each(streamed.filter(({ whole }) => whole !== null))(
    '$dialect $name says the same whole and streamed',
    ({ dialect, whole, bytes }) => {
      const events = readStream(dialect, [bytes])
      const atOnce = readWhole(dialect, whole ?? '')
      expect(meaning(events)).toEqual(meaning(atOnce))
      expect(breaches(atOnce)).toEqual([])
    },
  )
})

describe('a stream that comes in pieces', () => {
  test.each(streamed)('$dialect $name, byte by byte', ({ dialect, bytes }) => {
    const events = readStream(dialect, [bytes])
    expect(readStream(dialect, chopped(bytes, 1))).toEqual(events)
  })

  test.each(streamed)('$dialect $name, cut at every byte', ({ dialect, bytes }) => {
    const frames = framesOf(dialect, [bytes])
    for (let cut = 1; cut < bytes.length; cut++) {
      const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)]
      expect(framesOf(dialect, pieces), `cut at ${cut}`).toEqual(frames)
    }
  })
})

afterAll(() => expect(files.astray()).toEqual([]))
