// Compares what clients get of a vendor's reply, in each format, streamed and whole, with golden files.

import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { vendors } from '../../src/vendors/registry.ts'
import type { ClientHub, WriterHead } from '../../src/wire/codec.ts'
import type { DialectId } from '../../src/wire/formats.ts'
import type { JsonObject, JsonValue } from '../../src/wire/ir.ts'
import { chatHub } from '../../src/wire/openai-chat/hub.ts'
import { completionsHub } from '../../src/wire/openai-completions/hub.ts'
import { frames, readAll } from '../replies.ts'

type Target = Exclude<DialectId, 'openai-embeddings'>

interface Golden {
  readonly about: string
  readonly vendor: string
  /** The vendor's chat reply: its frames, or its body. */
  readonly stream?: readonly JsonObject[]
  readonly body?: JsonObject
  readonly expect: Readonly<Record<Target, { stream: JsonValue[]; whole: JsonObject }>>
}

const targets: readonly (readonly [Target, ClientHub])[] = [
  ['openai-chat', chatHub],
  ['openai-completions', completionsHub],
]
const files = readdirSync(import.meta.dir).filter((file) => file.endsWith('.json'))
const cases = files.flatMap((file) => targets.map(([target, hub]) => ({ file, target, hub })))
const head: WriterHead = { id: 'id-1', model: 'asked', createdAt: 7, wantsUsage: true }

function written(golden: Golden, hub: ClientHub): { stream: JsonValue[]; whole: JsonObject } {
  const quirks = vendors[golden.vendor]?.quirks ?? {}
  const data = golden.stream?.map((frame) => JSON.stringify(frame))
  const events =
    data === undefined
      ? chatHub.readWhole(structuredClone(golden.body ?? null), quirks)
      : readAll(chatHub.reader(quirks), data)
  const writer = hub.writer(head)
  const text = events.map((event) => writer.event(event)).join('') + writer.end()
  const stream = frames(new TextEncoder().encode(text), []).map((frame) =>
    frame === '[DONE]' ? frame : (JSON.parse(frame) as JsonValue),
  )
  return { stream, whole: hub.writeWhole(events, head) }
}

test.each(cases)('$file for $target', ({ file, target, hub }) => {
  const golden: Golden = JSON.parse(readFileSync(`${import.meta.dir}/${file}`, 'utf8'))
  expect(written(golden, hub)).toEqual(golden.expect[target])
})
