// Tests that usage reported by real vendors is read into kinds that add up to the vendor's count.

import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject, Usage } from '../../../src/wire/ir.ts'
import { isObject } from '../../../src/wire/json/value.ts'
import { readUsage } from '../../../src/wire/openai/usage.ts'
import { findRecordings, recordingsFolder, streamBytes } from '../../recordings/found.ts'
import { plainReading } from '../../recordings/plain.ts'
import { relay } from '../../recordings/relayed.ts'

const sum = (usage: Usage | null): number =>
  Object.values(usage ?? {}).reduce((total, count) => total + count, 0)

function number(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

/** All tokens that the vendor reports: its total, else (Anthropic, which has none) the sum of its separate counts. */
function reported(usage: JsonObject): number {
  if (typeof usage.total_tokens === 'number') return usage.total_tokens
  return (
    number(usage.input_tokens) +
    number(usage.cache_read_input_tokens) +
    number(usage.cache_creation_input_tokens) +
    number(usage.output_tokens)
  )
}

const { streams, wholes } = findRecordings()
const replies = [
  ...streams.map((recording) => ({ ...recording, streamed: true })),
  ...wholes.map((recording) => ({ ...recording, streamed: false })),
].filter(({ dialect }) => dialect !== 'openai-embeddings')

test.each(replies)('$name adds up by the path that translates it', (recording) => {
  const { frames, dialect, streamed } = recording
  const bytes = streamed ? streamBytes(frames, true) : new TextEncoder().encode(frames[0] ?? '')
  const seen = relay({ ...recording, from: dialect, to: dialect, stream: streamed }, [bytes])
  const raw = plainReading(frames).usage ?? {}
  expect(sum(seen.usage)).toBe(reported(raw))
})

/** Every recorded body with a token count in OpenAI's or Anthropic's spelling, whatever its format. */
function* bodies(root: string): Generator<{ name: string; usage: JsonObject }> {
  for (const entry of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    if (!entry.endsWith('.json')) continue
    const text = readFileSync(join(root, entry), 'utf8')
    // A few recordings are not one JSON text.
    if (!text.trimEnd().endsWith('}')) continue
    const body: JsonObject = JSON.parse(text)
    const { usage } = body
    if (!isObject(usage)) continue
    const sides = [usage.prompt_tokens ?? usage.input_tokens, usage.output_tokens]
    if (typeof (sides[0] ?? sides[1]) === 'number') yield { name: entry, usage }
  }
}

const root = recordingsFolder()
const counts = root === null ? [] : [...bodies(root)]

test.each(counts)('$name adds up as it was reported', ({ usage }) => {
  expect(sum(readUsage(usage))).toBe(reported(usage))
})
