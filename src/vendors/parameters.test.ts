// Tests which parameters are left out for OpenAI's models, by the effort that a request names or that is the model's own.

import { expect, test } from 'bun:test'
import type { JsonValue } from '../wire/ir.ts'
import { makersParameters } from './parameters.ts'

function droppedIn(dialect: 'openai-chat' | 'openai-responses', model: string, effort?: string) {
  const rule = makersParameters({ dialect, model, asked: model })
  const values: Record<string, JsonValue | undefined> = {
    reasoning_effort: effort,
    reasoning: effort === undefined ? undefined : { effort },
  }
  return rule?.dropped((name) => values[name]) ?? []
}

test.each([
  ['gpt-5.2', undefined, false],
  ['gpt-5.1-2025-11-13', undefined, false],
  ['openai/gpt-5.4', undefined, false],
  ['gpt-5.2', 'none', false],
  ['gpt-5.2', 'low', true],
  ['gpt-5.2-codex', undefined, true],
  ['gpt-5.4-pro', undefined, true],
  ['gpt-5', undefined, true],
  ['gpt-5.5', undefined, true],
] as const)('temperature for %s with the effort %s is left out: %p', (model, effort, isDropped) => {
  for (const dialect of ['openai-chat', 'openai-responses'] as const)
    expect(droppedIn(dialect, model, effort).includes('temperature')).toBe(isDropped)
  expect(droppedIn('openai-chat', model, effort)).toContain('presence_penalty')
})
