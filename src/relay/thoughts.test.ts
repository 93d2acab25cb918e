// Tests which vendors get back a model's reasoning: those that read it, and the one that sealed it.

import { expect, test } from 'bun:test'
import { vendors } from '../vendors/registry.ts'
import type { ChatRequest, RequestPart } from '../wire/ir.ts'
import { withoutThoughts } from './opaque-state.ts'

const text: RequestPart = { type: 'text', text: 'a' }
const sealed: RequestPart = { type: 'reasoning', text: 'b', sealed: 's' }
const plain: RequestPart = { type: 'reasoning', text: 'c' }

function asked(...parts: RequestPart[]): ChatRequest {
  return { model: 'm', stream: false, messages: [{ role: 'assistant', parts }] }
}

test('only what is not sealed is left out', () => {
  expect(withoutThoughts(asked(sealed, plain, text))).toEqual(asked(sealed, text))
  const request = asked(sealed, text)
  expect(withoutThoughts(request)).toBe(request)
})

test('W39: vendors that want it back are not among those that refuse it', () => {
  const refusing = Object.values(vendors).flatMap(({ id, quirks: { refusesThoughts } }) =>
    refusesThoughts ? [id] : [],
  )
  expect(refusing).toEqual(['openai', 'azure-openai', 'groq', 'cerebras', 'perplexity'])
})
