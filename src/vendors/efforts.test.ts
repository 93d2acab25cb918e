// Tests which effort each vendor's models are sent for one that they do not take.

import { expect, test } from 'bun:test'
import type { VendorDialectId } from '../wire/formats.ts'
import type { JsonObject } from '../wire/ir.ts'
import { vendors } from './registry.ts'

/** What is sent in place of the effort; null: none, and nothing is said of it. */
function sent(vendor: string, model: string, effort: string): string | null {
  const of = (dialect: VendorDialectId, body: JsonObject) => {
    const rule = vendors[vendor]?.quirks.parameters?.({ dialect, model, asked: model }) ?? null
    const [member = ''] = Object.keys(body)
    if (rule?.dropped((name) => body[name]).includes(member) === true) return null
    const found = rule?.replaced?.((name) => body[name]).get(member)
    return found === undefined ? body[member] : found.value
  }
  const inChat = of('openai-chat', { reasoning_effort: effort })
  const inResponses = of('openai-responses', { reasoning: { effort, summary: 'auto' } })
  expect(inResponses).toEqual({
    ...(inChat !== null && { effort: inChat }),
    summary: 'auto',
  })
  return inChat as string | null
}

test.each([
  ['openai', 'o3', { none: 'low', minimal: 'low', high: 'high', xhigh: 'high', max: 'high' }],
  ['openai', 'o4-mini-deep-research', { low: 'medium', high: 'medium' }],
  ['openai', 'gpt-5', { none: 'minimal', minimal: 'minimal', xhigh: 'high', max: 'high' }],
  ['openai', 'gpt-5-mini-2025-08-07', { none: 'minimal' }],
  ['openai', 'gpt-5-pro', { none: 'high', low: 'high', max: 'high' }],
  ['openai', 'gpt-5-codex', { none: 'low', minimal: 'low', xhigh: 'high' }],
  ['openai', 'gpt-5.1', { none: 'none', minimal: 'low', xhigh: 'high' }],
  ['openai', 'gpt-5.1-codex', { none: 'low', xhigh: 'high' }],
  ['openai', 'gpt-5.1-codex-max', { none: 'low', xhigh: 'xhigh', max: 'xhigh' }],
  ['openai', 'gpt-5.2', { none: 'none', minimal: 'low', xhigh: 'xhigh', max: 'xhigh' }],
  ['openai', 'gpt-5.2-pro', { none: 'medium', xhigh: 'xhigh' }],
  ['openai', 'gpt-5.6-terra', { none: 'none', minimal: 'low', max: 'max' }],
  ['openai', 'gpt-6-astra', { none: 'low' }],
  ['openai', 'gpt-7', { none: 'none', max: 'max' }],
  ['openai', 'gpt-5', { ultra: 'ultra' }],
  ['azure-openai', 'gpt-5', { none: 'minimal' }],
  ['xai', 'grok-4-fast-reasoning', { low: null }],
  ['xai', 'grok-4-0709', { low: null }],
  ['xai', 'grok-4.20-0309-non-reasoning', { low: null }],
  ['xai', 'grok-code-fast-1', { low: null }],
  ['xai', 'grok-3', { low: null }],
  ['xai', 'grok-3-mini', { low: 'low', none: 'low', medium: 'high' }],
  ['xai', 'grok-4.3', { none: 'none', minimal: 'low', xhigh: 'high' }],
  ['xai', 'grok-4.5', { none: 'low', max: 'high' }],
  ['xai', 'grok-4.20-multi-agent-0309', { none: 'low', xhigh: 'xhigh' }],
  ['xai', 'grok-4', { low: 'low' }],
  ['xai', 'grok-5', { low: 'low' }],
  ['groq', 'openai/gpt-oss-120b', { none: 'low', medium: 'medium', max: 'high' }],
  ['groq', 'qwen/qwen3-32b', { none: 'none', low: 'default', high: 'default' }],
  ['groq', 'llama-3.3-70b-versatile', { none: null, high: null }],
  ['mistral', 'mistral-small-latest', { none: 'none', medium: 'high', max: 'high' }],
  ['mistral', 'mistral-large-latest', { high: null }],
  ['mistral', 'devstral-2512', { none: null }],
  ['cerebras', 'gpt-oss-120b', { none: 'low', xhigh: 'high' }],
  ['cerebras', 'zai-glm-4.7', { none: 'none' }],
  ['cerebras', 'qwen-3-coder-480b', { low: null }],
  ['moonshot', 'kimi-k3', { none: 'low', medium: 'high', xhigh: 'max' }],
  ['moonshot', 'kimi-k2.7-code', { high: null }],
  ['moonshot', 'kimi-k2.6', { none: 'none', high: 'high' }],
  ['ollama', 'llama3.1:8b', { low: null }],
  ['ollama', 'qwen3:4b', { none: 'none', max: 'high' }],
  ['ollama', 'qwen3-coder:30b', { low: null }],
] as const)('%s, %s: %j', (vendor, model, efforts) => {
  for (const [asked, expected] of Object.entries(efforts))
    expect([asked, sent(vendor, model, asked)]).toEqual([asked, expected])
})

test('an effort of none that the model does not take does not let it draw words', () => {
  const dropped = (model: string) =>
    vendors['openai']?.quirks
      .parameters?.({ dialect: 'openai-chat', model, asked: model })
      ?.dropped((name) => (name === 'reasoning_effort' ? 'none' : undefined))
  expect(dropped('gpt-5.3-codex')).toContain('temperature')
  expect(dropped('gpt-5.4')).not.toContain('temperature')
})
