// Tests which models are known to have which abilities.

import { expect, test } from 'bun:test'
import { keepsToSchema, takesTools } from './abilities.ts'

test('a family is known by its own name, wherever that stands', () => {
  for (const id of [
    'gpt-5-mini',
    'openai/gpt-4o',
    'claude-opus-4-5',
    'us.anthropic.claude-sonnet-5',
  ])
    expect([id, takesTools(id), keepsToSchema(id)]).toEqual([id, true, true])
  for (const id of ['my-gpt-4o', 'llama-3', 'command', 'sandbox'])
    expect([id, keepsToSchema(id)]).toEqual([id, null])
})

test('models from before schemas promise JSON at most', () => {
  for (const id of [
    'gpt-4o-2024-05-13',
    'gpt-4-turbo',
    'claude-sonnet-4-0',
    'deepseek-chat',
    'command-r',
  ])
    expect([id, keepsToSchema(id)]).toEqual([id, null])
})
