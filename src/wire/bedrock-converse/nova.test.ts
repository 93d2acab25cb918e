// Tests what only some models of Amazon's take: reasoning, and what excludes it.

import { expect, test } from 'bun:test'
import type { JsonObject } from '../ir.ts'
import { encode, nova } from './testing.ts'

const second = 'us.amazon.nova-2-lite-v1:0'

function thought(body: JsonObject, model: string): readonly unknown[] {
  const { body: sent, dropped } = encode(body, model)
  const fields = sent.additionalModelRequestFields as JsonObject | undefined
  return [fields?.reasoningConfig ?? null, ...dropped]
}

const high = { type: 'enabled', maxReasoningEffort: 'high' }
const medium = { type: 'enabled', maxReasoningEffort: 'medium' }
const low = { type: 'enabled', maxReasoningEffort: 'low' }

test.each([
  [{ reasoning_effort: 'high' }, nova, [null, 'reasoning_effort']],
  [{ reasoning_effort: 'low' }, nova, [null, 'reasoning_effort']],
  [{ reasoning_effort: 'none' }, nova, [null]],
  [{ reasoning_effort: 'none' }, second, [{ type: 'disabled' }]],
  [{ reasoning_effort: 'high' }, second, [high]],
  [{ reasoning_effort: 'high', max_tokens: 9 }, second, [medium, 'reasoning_effort']],
  [{ reasoning_effort: 'xhigh', temperature: 0.5 }, second, [medium, 'reasoning_effort']],
  [{ reasoning_effort: 'low', max_tokens: 9, temperature: 0.5 }, second, [low]],
] as const)('%j for %s', (body, model, expected) => {
  expect(thought(body, model)).toEqual(expected)
})
