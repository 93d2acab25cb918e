// OpenRouter: many vendors behind one API; usage on every reply, numeric error codes, and errors with status 200.

import { unsigned } from './anthropic.ts'
import { allAndResponses, openaiCompatible } from './compatible.ts'
import type { Vendor } from './vendor.ts'

const none: readonly string[] = []

function isClaude(model: string): boolean {
  return /claude/i.test(model)
}

export const openrouter = openaiCompatible({
  id: 'openrouter',
  baseUrl: 'https://openrouter.ai/api/v1',
  environment: 'OPENROUTER_API_KEY',
  speaks: [...allAndResponses, 'anthropic-messages'],
  // Its Messages are meant for Claude, whose thinking and cache marks they carry (OpenRouter, "Claude Code").
  speaksFor: ({ model }) => (isClaude(model) ? null : allAndResponses),
  quirks: {
    usageOnStream: 'always',
    refusesEmpty: (model) => (isClaude(model) ? unsigned : none),
    // OpenRouter, "Prompt caching"; models of other makers cache by themselves.
    cacheMarks: (model) => (isClaude(model) ? '1h' : /qwen/.test(model) ? '5m' : null),
  },
}) satisfies Vendor
