// Tests sealed texts in bytes that are passed through: marked towards the client, unmarked towards the vendor, the rest
// unchanged.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Candidate } from '../router/route.ts'
import { dialects } from '../wire/dialects.ts'
import { wrapOpaque } from '../wire/hub/opaque-state.ts'
import { join, splice } from '../wire/json/splice.ts'
import { hasOpaque, markedOpaque, marksOpaque, openedOpaque } from './opaque-bytes.ts'

const origin = { dialect: 'openai-responses', channel: '0a1b2c3d' }
const other = { ...origin, channel: 'ffffffff' }
const encoder = new TextEncoder()
const bytesOf = (text: string) => encoder.encode(text)
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

function marked(text: string): string {
  return textOf(markedOpaque(bytesOf(text), 'encrypted_content', origin))
}

function opened(text: string, by = origin): string | null {
  const edits = openedOpaque(bytesOf(text), by)
  return edits && textOf(join(splice(bytesOf(text), edits)))
}

const events = [
  'event: response.output_item.done\ndata: {"item":{"type":"reasoning","encrypted_content":"gAAAA/b+c=="}}\n\n',
  'data: {"item":{"type":"reasoning", "encrypted_content" : "gAAAA","summary":[]}}\n\ndata: {"x":{"encrypted_content":"more"}}\n\n',
]

test.each(events)(
  'what is marked is the sealed text alone, and opened it is as it was: %#',
  (text) => {
    const out = marked(text)
    expect(out).not.toBe(text)
    expect(out.replaceAll(/dGcxC[\w+/=]*/g, '')).toBe(
      text.replaceAll(/(gAAAA\/b\+c==|gAAAA|more)/g, ''),
    )
    expect(opened(out)).toBe(text)
    expect(opened(out, other)).toBeNull()
    expect(marked(out)).toBe(out)
  },
)

test.each([
  'data: {"delta":"Hello"}\n\n',
  '{"encrypted_content":null}',
  '{"encrypted_content":""}',
  '{"text":"the member \\"encrypted_content\\": \\"x\\" holds it"}',
  '{"encrypted_content"',
])('nothing is sealed in %s', (text) => {
  const bytes = bytesOf(text)
  expect(markedOpaque(bytes, 'encrypted_content', origin)).toBe(bytes)
  expect(opened(text)).toBe(text)
})

test('a request is opened only where all in it is of the one channel', () => {
  const mine = wrapOpaque('a', origin) ?? ''
  const theirs = wrapOpaque('b', other) ?? ''
  expect(opened(`{"input":["${mine}","${mine}"]}`)).toBe('{"input":["a","a"]}')
  expect(opened(`{"input":["${mine}","${theirs}"]}`)).toBeNull()
  expect(opened(`{"input":["${mine}","text:${mine}"]}`)).toBeNull()
  expect(opened(`{"input":["${mine}","see ${mine} there"]}`)).toBeNull()
})

test('a mark that somebody made up stays within its text', () => {
  const forged = wrapOpaque('"}],"model":"dear","x":[{"y":"', origin)
  const body = JSON.parse(opened(`{"model":"cheap","input":[{"z":"${forged}"}]}`) ?? '')
  expect(Object.keys(body)).toEqual(['model', 'input'])
  expect(body.model).toBe('cheap')
})

test('marks are made only where several channels are handed a request as it is', () => {
  const channel = (identity: boolean) => ({ identity }) as Candidate
  const responses = dialects['openai-responses']
  expect(marksOpaque(responses, [channel(true)])).toBe(false)
  expect(marksOpaque(responses, [channel(true), channel(false)])).toBe(false)
  expect(marksOpaque(responses, [channel(true), channel(true)])).toBe(true)
  expect(marksOpaque(dialects['anthropic-messages'], [channel(true), channel(true)])).toBe(false)
})

test('a mark is seen wherever it stands in a body, among parts of others', () => {
  const part = fc.constantFrom('d', 'G', 'c', 'x', 'C', 'dG', 'dGc', 'dGcx', 'GcxC', 'd'.repeat(33))
  const parts = fc.array(part, { maxLength: 40 })
  const [offsets, filler] = [fc.nat(3), fc.constantFrom(0, 15, 16, 17, 32, 100, 65_536)]
  const prefix = (wrapOpaque('a', origin) ?? '').slice(0, 5)
  const seen = fc.property(
    parts,
    fc.boolean(),
    parts,
    offsets,
    filler,
    (before, is, after, from, length) => {
      const text = before.join('') + (is ? prefix : '') + 'c'.repeat(length) + after.join('')
      const body = bytesOf('?'.repeat(from) + text).subarray(from)
      expect(hasOpaque(body)).toBe(text.includes(prefix))
    },
  )
  fc.assert(seen, { numRuns: 2_000 })
  expect(hasOpaque(bytesOf(''))).toBe(false)
})
