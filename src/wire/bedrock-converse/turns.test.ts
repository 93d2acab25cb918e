// Tests what Converse wants of a turn beside its order.

import { expect, test } from 'bun:test'
import type { JsonObject } from '../ir.ts'
import { encoded } from './testing.ts'

const pdf = { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=' } }
const words = { type: 'text', text: 'Sum it up.' }

test.each([
  [[pdf], ['document', 'text']],
  [
    [pdf, words],
    ['document', 'text'],
  ],
  [
    [words, pdf],
    ['text', 'document'],
  ],
])('a turn with a document has a text: %j', (content, kinds) => {
  const { messages } = encoded({ messages: [{ role: 'user', content }] })
  const [turn] = messages as unknown as { readonly content: readonly JsonObject[] }[]
  expect(turn?.content.map((block) => Object.keys(block)[0])).toEqual(kinds)
})
