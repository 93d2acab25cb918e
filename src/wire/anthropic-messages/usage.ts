// Converts Anthropic's token counts into the hub's disjoint kinds and back.

import { promptTokens, replyTokens } from '../../config/prices.ts'
import { believed, countOf } from '../hub/counts.ts'
import type { JsonObject, JsonValue, Usage } from '../ir.ts'
import { objectOf, objectsIn, setMember } from '../json/value.ts'
import { searches } from '../openai/usage.ts'

function count(value: JsonValue | undefined): number {
  return countOf(value) ?? 0
}

const promptNames: ReadonlySet<string> = new Set([
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cache_creation',
])

function countsPrompt(usage: JsonObject): boolean {
  const { input_tokens: input, cache_read_input_tokens: read } = usage
  return [input, read, usage.cache_creation_input_tokens].some((each) => each != null && each !== 0)
}

/**
 * Overlays a later event's counts on those before: they are totals of the message, not increments, and a later event
 * may omit some ("Streaming messages", message_delta). No prompt is empty: where some vendors send zeros for it at the
 * end, the counts of the beginning stay.
 */
export function mergeUsage(before: JsonObject, later: JsonObject): JsonObject {
  const merged = { ...before }
  const keepsPrompt = countsPrompt(before) && !countsPrompt(later)
  for (const name in later) {
    if (later[name] == null || (keepsPrompt && promptNames.has(name))) continue
    setMember(merged, name, later[name])
  }
  return merged
}

interface Counts {
  readonly input: number
  readonly output: number
  readonly cachedInput: number
  readonly cacheWrite: number
  readonly cacheWrite1h: number
}

/** The counts of one object with Anthropic's names: a message's usage, or one of its iterations. */
function countsIn(raw: JsonObject): Counts {
  const split = objectOf(raw.cache_creation)
  const hour = count(split.ephemeral_1h_input_tokens)
  const minutes = count(split.ephemeral_5m_input_tokens)
  const written = count(raw.cache_creation_input_tokens) || hour + minutes
  const cacheWrite1h = Math.min(hour, written)
  return {
    input: count(raw.input_tokens),
    output: count(raw.output_tokens),
    cachedInput: count(raw.cache_read_input_tokens),
    cacheWrite: written - cacheWrite1h,
    cacheWrite1h,
  }
}

/**
 * Iterations that the message's own counts exclude (recorded: `input_tokens` is the sum over type `message`): those
 * of a compaction, billed as the model's own ("Compaction", usage), and those of an advisor, another model's work
 * ("Advisor tool", usage) that is charged at the requested model's prices.
 */
const besides: ReadonlySet<unknown> = new Set(['compaction', 'advisor_message'])

function beside(raw: JsonObject): Counts {
  const sum = { input: 0, output: 0, cachedInput: 0, cacheWrite: 0, cacheWrite1h: 0 }
  for (const iteration of objectsIn(raw.iterations)) {
    if (!besides.has(iteration.type)) continue
    const more = countsIn(iteration)
    for (const name of kinds) sum[name] += more[name]
  }
  return sum
}

const kinds = ['input', 'output', 'cachedInput', 'cacheWrite', 'cacheWrite1h'] as const

/**
 * Disjoint counts, each an integer of at least 0; null where there are none, so that the caller counts itself.
 * `input_tokens` excludes tokens read from the cache and written to it; `output_tokens` includes thinking.
 */
export function readUsage(value: JsonValue | undefined): Usage | null {
  return believed(objectOf(value), read)
}

/** With nothing to tell the prompt by, the caller counts: as reported the prompt would be free. */
function read(raw: JsonObject): Usage | null {
  return [...promptNames].some((name) => raw[name] != null) ? sumsOf(raw) : null
}

function sumsOf(raw: JsonObject): Usage | null {
  const own = countsIn(raw)
  const more = beside(raw)
  const cacheWrite1h = own.cacheWrite1h + more.cacheWrite1h
  const output = own.output + more.output
  const reasoning = Math.min(output, count(objectOf(raw.output_tokens_details).thinking_tokens))
  const usage: Usage = {
    input: own.input + more.input,
    cachedInput: own.cachedInput + more.cachedInput,
    cacheWrite: own.cacheWrite + more.cacheWrite,
    output: output - reasoning,
    reasoning,
    ...(cacheWrite1h > 0 && { cacheWrite1h }),
    ...searches(objectOf(raw.server_tool_use).web_search_requests),
  }
  const { input, cachedInput, cacheWrite } = usage
  return input + cachedInput + cacheWrite + cacheWrite1h + output === 0 ? null : usage
}

/**
 * The counts with all of Anthropic's fields present, because clients read them without a check. `reported` is the
 * vendor's own usage if it is in this format; what it states separately is not counted twice.
 */
export function writeUsage(usage: Usage, reported: JsonObject): JsonObject {
  const more = believedBeside(reported)
  const cacheWrite = usage.cacheWrite - more.cacheWrite
  const cacheWrite1h = (usage.cacheWrite1h ?? 0) - more.cacheWrite1h
  const cached = usage.cachedInput + usage.cacheWrite + (usage.cacheWrite1h ?? 0)
  const counts = {
    input_tokens: promptTokens(usage) - cached - more.input,
    cache_creation_input_tokens: cacheWrite + cacheWrite1h,
    cache_read_input_tokens: usage.cachedInput - more.cachedInput,
    cache_creation: {
      ephemeral_5m_input_tokens: cacheWrite,
      ephemeral_1h_input_tokens: cacheWrite1h,
    },
    output_tokens: replyTokens(usage) - more.output,
    output_tokens_details: { thinking_tokens: usage.reasoning },
    server_tool_use:
      usage.webSearch === undefined
        ? null
        : { web_search_requests: usage.webSearch, web_fetch_requests: 0 },
    service_tier: 'standard',
    inference_geo: null,
    speed: null,
  }
  return mergeUsage(counts, reported)
}

/** Counts of further iterations in `reported`; zeros if its usage was not believed. */
function believedBeside(reported: JsonObject): Counts {
  return believed(reported, sumsOf) === null ? countsIn({}) : beside(reported)
}
