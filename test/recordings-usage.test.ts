// Reads every usage object in the recorded replies by its vendor's dialect, and calculates it a second time by simple
// sums.

import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { tokenPrices } from '../src/config/prices.ts'
import { vendors } from '../src/vendors/registry.ts'
import { readUsage as readAnthropic } from '../src/wire/anthropic-messages/usage.ts'
import { readUsage as readBedrock } from '../src/wire/bedrock-converse/usage.ts'
import { readUsage as readCohere } from '../src/wire/cohere-v2/usage.ts'
import { readUsage as readGemini } from '../src/wire/gemini/usage.ts'
import { isUnbelievable } from '../src/wire/hub/counts.ts'
import type { JsonObject, JsonValue, Usage } from '../src/wire/ir.ts'
import { readUsage as readOpenai } from '../src/wire/openai/usage.ts'
import { recordingsFolder } from './recordings/found.ts'

interface Found {
  readonly file: string
  readonly folder: string
  readonly usage: JsonObject
}

const root = recordingsFolder()

function usagesIn(value: JsonValue, place: Omit<Found, 'usage'>, found: Found[]): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, each] of Object.entries(value)) {
    const isUsage = name === 'usage' || name === 'usageMetadata'
    if (isUsage && typeof each === 'object' && each !== null && !Array.isArray(each))
      found.push({ ...place, usage: each as JsonObject })
    usagesIn(each ?? null, place, found)
  }
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    // A few files are not JSON: a picture, a line of text.
    return null
  }
}

function all(): Found[] {
  const found: Found[] = []
  for (const folder of root === null ? [] : readdirSync(root, { withFileTypes: true })) {
    if (!folder.isDirectory()) continue
    for (const file of readdirSync(join(root ?? '', folder.name))) {
      const text = readFileSync(join(root ?? '', folder.name, file), 'utf8')
      const documents = file.endsWith('.json') ? [text] : text.split('\n')
      for (const document of documents)
        usagesIn(parsed(document), { file, folder: folder.name }, found)
    }
  }
  return found
}

const ids: Readonly<Record<string, string>> = {
  alibaba: 'dashscope',
  azure: 'azure-openai',
  moonshotai: 'moonshot',
  togetherai: 'together',
}

/** As the relay reads it: by the dialect of its spelling, after its vendor's own correction. */
function ours({ folder, usage }: Found): Usage | null {
  if ('promptTokenCount' in usage || 'trafficType' in usage) return readGemini(usage)
  if ('inputTokens' in usage) return readBedrock(usage)
  if ('billed_units' in usage) return readCohere(usage)
  if (folder === 'anthropic') return readAnthropic(usage)
  const vendor = vendors[ids[folder] ?? folder]
  const isChat = 'prompt_tokens' in usage
  return readOpenai(isChat ? (vendor?.quirks?.usage?.(usage) ?? usage) : usage)
}

function number(...values: (JsonValue | undefined)[]): number {
  for (const value of values) if (typeof value === 'number') return value
  return 0
}

function part(usage: JsonObject, name: string): JsonObject {
  const value = usage[name]
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {}
}

interface Derived {
  readonly total: number
  readonly cached: number
  readonly written: number
  readonly reasoning: number
}

/** The vendor's own total if there is one, else the sum of what it bills. */
function derived({ folder, usage: u }: Found): Derived | null {
  const none = { cached: 0, written: 0, reasoning: 0 }
  if ('trafficType' in u && !('totalTokenCount' in u)) return null
  if ('totalTokenCount' in u)
    return { ...none, total: number(u.totalTokenCount), reasoning: number(u.thoughtsTokenCount) }
  if ('inputTokens' in u) {
    const [cached, written] = [number(u.cacheReadInputTokens), number(u.cacheWriteInputTokens)]
    const total = number(u.inputTokens) + number(u.outputTokens) + cached + written
    return { ...none, total, cached, written }
  }
  if ('billed_units' in u) {
    const billed = part(u, 'billed_units')
    return { ...none, total: number(billed.input_tokens) + number(billed.output_tokens) }
  }
  if (folder === 'anthropic') {
    const more = (Array.isArray(u.iterations) ? (u.iterations as JsonObject[]) : []).filter(
      ({ type }) => type === 'compaction' || type === 'advisor_message',
    )
    const sum = (name: string) => [u, ...more].reduce((each, one) => each + number(one[name]), 0)
    const [cached, written] = [sum('cache_read_input_tokens'), sum('cache_creation_input_tokens')]
    const total = sum('input_tokens') + sum('output_tokens') + cached + written
    const reasoning = number(part(u, 'output_tokens_details').thinking_tokens)
    return { total, cached, written, reasoning }
  }
  const [asked, said] = [part(u, 'prompt_tokens_details'), part(u, 'completion_tokens_details')]
  const [input, output] = [part(u, 'input_tokens_details'), part(u, 'output_tokens_details')]
  return {
    total: number(u.total_tokens),
    cached: number(
      asked.cached_tokens,
      input.cached_tokens,
      u.cached_tokens,
      u.prompt_cache_hit_tokens,
    ),
    written: number(asked.cache_write_tokens, input.cache_write_tokens),
    reasoning: number(said.reasoning_tokens, output.reasoning_tokens, u.reasoning_tokens),
  }
}

/** Google's interactions, sound by the second and Voyage's totals alone are read elsewhere, or not supported. */
function isOther({ usage }: Found): boolean {
  const names = Object.keys(usage)
  return (
    names.some((name) => name === 'total_input_tokens' || name === 'seconds') || names.length === 1
  )
}

test.if(root !== null)(
  'what is charged of every recorded reply is what its vendor counted, to the token',
  () => {
    const usages = all().filter((found) => !isOther(found) || 'trafficType' in found.usage)
    expect(usages.length).toBeGreaterThan(300)
    for (const found of usages) {
      const wanted = derived(found)
      const usage = ours(found)
      const place = { file: found.file, usage: found.usage }
      expect({ ...place, bad: isUnbelievable(found.usage) }).toEqual({ ...place, bad: false })
      if (wanted === null || wanted.total === 0) {
        expect({ ...place, read: usage }).toEqual({ ...place, read: null })
        continue
      }
      const kinds = tokenPrices.map((kind) => usage?.[kind] ?? 0)
      const read = {
        total: kinds.reduce((sum, count) => sum + count, 0),
        cached: usage?.cachedInput,
        written: (usage?.cacheWrite ?? 0) + (usage?.cacheWrite1h ?? 0),
        reasoning: usage?.reasoning,
      }
      expect({ ...place, read }).toEqual({ ...place, read: { ...wanted } })
    }
  },
)
