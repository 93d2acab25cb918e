// Reads `usage` of OpenAI-style replies, in all vendors' spellings, into disjoint token kinds.

import { promptTokens, replyTokens } from '../../config/prices.ts'
import { believed, countOf as count, isUnbelievable, mostTokens, Remainder } from '../hub/counts.ts'
import type { JsonObject, JsonValue, Usage } from '../ir.ts'
import { isObject, objectOf } from '../json/value.ts'

function first(...values: (JsonValue | undefined)[]): number | null {
  for (const value of values) {
    const found = count(value)
    if (found !== null) return found
  }
  return null
}

function objectIn(parent: JsonObject, ...names: string[]): JsonObject {
  for (const name of names) {
    const value = parent[name]
    if (isObject(value)) return value
  }
  return {}
}

/** Tokens read from the cache, in the spellings of OpenAI, Mistral, DeepSeek, Moonshot and Anthropic-like vendors. */
function cachedTokens(usage: JsonObject, details: JsonObject): number {
  return (
    first(
      details.cached_tokens,
      usage.prompt_cache_hit_tokens,
      usage.cached_tokens,
      usage.num_cached_tokens,
      usage.cache_read_input_tokens,
    ) ?? 0
  )
}

interface Written {
  readonly total: number
  /** The part of the total that is cached for an hour instead of five minutes. */
  readonly hour: number
}

/** Tokens written to the cache, in the spellings of OpenAI, DashScope and Anthropic-like vendors. */
function writtenTokens(usage: JsonObject, details: JsonObject): Written {
  const split = isObject(details.cache_creation)
    ? details.cache_creation
    : objectIn(usage, 'cache_creation')
  const minutes = count(split.ephemeral_5m_input_tokens) ?? 0
  const hour = count(split.ephemeral_1h_input_tokens) ?? 0
  const total =
    first(
      details.cache_write_tokens,
      details.cache_creation_input_tokens,
      details.cache_creation_tokens,
      usage.cache_creation_input_tokens,
    ) ?? minutes + hour
  return { total, hour: Math.min(hour, total) }
}

/**
 * Whether the vendor's prompt count excludes tokens read from and written to the cache: its total includes them in
 * addition (and reasoning does not explain the difference), or its spelling is Anthropic's, where the count excludes
 * them.
 */
function countsCacheApart(usage: JsonObject, totals: Totals, cacheTokens: number): boolean {
  const { prompt, completion, reasoning, total } = totals
  if (cacheTokens === 0) return false
  if (total === prompt + completion + cacheTokens && cacheTokens !== reasoning) return true
  return count(usage.prompt_tokens) === null && isCacheReported(usage)
}

interface Totals {
  readonly prompt: number
  readonly completion: number
  readonly reasoning: number
  readonly total: number | null
}

/** Prompt and completion counts; a missing one is what the total leaves. Null where neither was reported. */
function totalsOf(usage: JsonObject, outputDetails: JsonObject): Totals | null {
  const total = count(usage.total_tokens)
  const prompt = first(usage.prompt_tokens, usage.input_tokens)
  const completion = first(usage.completion_tokens, usage.output_tokens)
  if (prompt === null && completion === null) return null
  // With nothing to tell the prompt by, the caller counts: as reported the prompt would be free.
  if (prompt === null && total === null && !isCacheReported(usage)) return null
  const sides = {
    prompt: prompt ?? Math.max(0, (total ?? 0) - (completion ?? 0)),
    completion: completion ?? Math.max(0, (total ?? 0) - (prompt ?? 0)),
    reasoning: first(outputDetails.reasoning_tokens, usage.reasoning_tokens) ?? 0,
    total,
  }
  return sides.prompt + sides.completion === 0 ? null : sides
}

/** Whether the usage names cached tokens in Anthropic's spelling, beside which a prompt may have no others. */
function isCacheReported(usage: JsonObject): boolean {
  return first(usage.cache_read_input_tokens, usage.cache_creation_input_tokens) !== null
}

const promptNames = ['prompt_tokens', 'input_tokens'] as const
const replyNames = ['completion_tokens', 'output_tokens'] as const

/** A report of one side alone, such as some vendors send in two frames, with the other side of the report before. */
export function joinedUsage(before: JsonObject | null, raw: JsonObject): JsonObject {
  const tells = (value: JsonObject, names: readonly string[]) =>
    names.some((name) => value[name] != null)
  if (before === null || raw.total_tokens != null) return raw
  const isHalf = tells(raw, promptNames) !== tells(raw, replyNames)
  if (!isHalf) return raw
  const { total_tokens: _, ...earlier } = before
  return { ...earlier, ...raw }
}

/**
 * Disjoint counts, each an integer of at least 0; null where the vendor reported nothing believable (absent, not
 * numbers, beyond 1e9, or zeros on both sides, which some send as a placeholder), so that the caller counts. A zero
 * on one side is accepted. Contradictions: more cached tokens than prompt tokens mean that the prompt count excludes
 * the cache, unless the total confirms it; more reasoning than completion tokens, or a total that adds reasoning,
 * mean that the completion count excludes reasoning (xAI).
 */
export function readUsage(value: JsonValue | undefined): Usage | null {
  return isObject(value) ? believed(value, read) : null
}

/** The same for a whole response of the Responses format. */
export function responseUsage(response: JsonObject): Usage | null {
  const usage = readUsage(response.usage)
  const tools = objectIn(response, 'tool_usage')
  const { num_requests: made } = objectIn(tools, 'web_search')
  const pictures = toolPictures(objectIn(tools, 'image_gen'))
  return usage === null || (made === undefined && pictures === null)
    ? usage
    : { ...usage, ...searches(made), ...pictures }
}

/** Tokens of the model that makes pictures for another one, which that one's counts leave out; null where it made none. */
function toolPictures({
  input_tokens: input,
  output_tokens: output,
}: JsonObject): Pick<Usage, 'toolImageInput' | 'toolImageOutput'> | null {
  const [toolImageInput, toolImageOutput] = [input, output].map((count) =>
    typeof count === 'number' && Number.isInteger(count) && count > 0 && count <= mostTokens
      ? count
      : 0,
  )
  return toolImageOutput ? { toolImageInput: toolImageInput ?? 0, toolImageOutput } : null
}

/** Web searches that a vendor made; an invalid count is ignored and does not make the token counts implausible. */
export function searches(made: JsonValue | undefined): Pick<Usage, 'webSearch'> {
  const isCount = typeof made === 'number' && Number.isInteger(made)
  return isCount && made > 0 ? { webSearch: made } : {}
}

function read(value: JsonObject): Usage | null {
  const outputDetails = objectIn(value, 'completion_tokens_details', 'output_tokens_details')
  const totals = totalsOf(value, outputDetails)
  if (totals === null) return null
  const inputDetails = objectIn(
    value,
    'prompt_tokens_details',
    'prompt_token_details',
    'input_tokens_details',
    // Only transcripts use this spelling.
    'input_token_details',
  )
  // Perplexity's member; if absent, xAI's.
  const {
    num_search_queries: made = objectIn(value, 'server_side_tool_usage_details').web_search_calls,
  } = value
  const usage = withReply(readPrompt(value, totals, inputDetails), totals, outputDetails)
  if (made !== undefined) Object.assign(usage, searches(made))
  return usage
}

/** Usage under construction: rare kinds become members only where something was counted. */
type Counted = { -readonly [Kind in keyof Usage]: Usage[Kind] }
type CountedPrompt = Omit<Counted, 'output' | 'reasoning'>

/** Whether the total is the sum of the sides, so that nothing is counted beside them. */
function isConfirmed({ prompt, completion, reasoning, total }: Totals): boolean {
  return total === prompt + completion || total === prompt + completion + reasoning
}

function readPrompt(reported: JsonObject, totals: Totals, details: JsonObject): CountedPrompt {
  const read = cachedTokens(reported, details)
  const written = writtenTokens(reported, details)
  const apart = countsCacheApart(reported, totals, read + written.total)
  const rest = new Remainder(totals.prompt)
  // If the total confirms the prompt count, no more than that can have been read from the cache.
  const inside = !apart && (read <= totals.prompt || isConfirmed(totals))
  const cachedInput = inside ? rest.take(read) : read
  const writes = apart ? written.total : rest.take(written.total)
  const cacheWrite1h = Math.min(written.hour, writes)
  const audioInput = rest.take(count(details.audio_tokens) ?? 0)
  const imageInput = rest.take(count(details.image_tokens) ?? 0)
  const usage: CountedPrompt = { input: rest.left, cachedInput, cacheWrite: writes - cacheWrite1h }
  if (cacheWrite1h > 0) usage.cacheWrite1h = cacheWrite1h
  if (audioInput > 0) usage.audioInput = audioInput
  if (imageInput > 0) usage.imageInput = imageInput
  return usage
}

function withReply(asked: CountedPrompt, totals: Totals, details: JsonObject): Counted {
  const { prompt, completion, reasoning, total } = totals
  const apart = reasoning > completion || total === prompt + completion + reasoning
  const rest = new Remainder(completion)
  if (!apart) rest.take(reasoning)
  const audioOutput = rest.take(count(details.audio_tokens) ?? 0)
  const imageOutput = rest.take(count(details.image_tokens) ?? 0)
  const usage: Counted = { ...asked, output: rest.left, reasoning }
  if (audioOutput > 0) usage.audioOutput = audioOutput
  if (imageOutput > 0) usage.imageOutput = imageOutput
  return usage
}

/** Writes disjoint counts as OpenAI's `usage`, where prompt and completion are sums. */
export function writeUsage(usage: Usage): JsonObject {
  const prompt = promptTokens(usage)
  const completion = replyTokens(usage)
  const { cacheWrite, cacheWrite1h = 0 } = usage
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: usage.cachedInput,
      audio_tokens: usage.audioInput ?? 0,
      ...(cacheWrite + cacheWrite1h > 0 && { cache_write_tokens: cacheWrite + cacheWrite1h }),
      ...(cacheWrite1h > 0 && {
        cache_creation: {
          ephemeral_5m_input_tokens: cacheWrite,
          ephemeral_1h_input_tokens: cacheWrite1h,
        },
      }),
      ...(usage.imageInput !== undefined && { image_tokens: usage.imageInput }),
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: usage.audioOutput ?? 0,
      ...(usage.imageOutput !== undefined && { image_tokens: usage.imageOutput }),
    },
  }
}

function isSum(value: JsonValue | undefined): boolean {
  return typeof value === 'number' && value >= 0 && Number.isInteger(value)
}

/** Whether the kinds that have prices of their own stand where clients of OpenAI read them. */
function hasKinds(
  raw: JsonObject,
  { cachedInput, cacheWrite, cacheWrite1h, reasoning }: Usage,
): boolean {
  const prompt = objectIn(raw, 'prompt_tokens_details')
  const reply = objectIn(raw, 'completion_tokens_details')
  const shown = (details: JsonObject, name: string) => count(details[name]) ?? 0
  return (
    shown(prompt, 'cached_tokens') === cachedInput &&
    shown(prompt, 'cache_write_tokens') === cacheWrite + (cacheWrite1h ?? 0) &&
    shown(reply, 'reasoning_tokens') === reasoning
  )
}

/** The vendor's usage with these kinds; whatever else it tells stays. */
function withKinds(raw: JsonObject, usage: Usage): JsonObject {
  const { prompt_tokens_details: prompt, completion_tokens_details: reply } = writeUsage(usage)
  return {
    ...raw,
    prompt_tokens_details: { ...objectIn(raw, 'prompt_tokens_details'), ...objectOf(prompt) },
    completion_tokens_details: {
      ...objectIn(raw, 'completion_tokens_details'),
      ...objectOf(reply),
    },
  }
}

/**
 * The usage to show the client: the vendor's own where its three sums, and the kinds that have prices, agree with what
 * was read, so that nobody is charged for more than is shown; else with those kinds, or one written from what was read;
 * null where nothing was. `usage`: the result of reading `raw`, if the caller has it.
 */
export function shownUsage(raw: JsonObject, usage = readUsage(raw)): JsonObject | null {
  const counts = isSum(raw.prompt_tokens) && isSum(raw.completion_tokens) && isSum(raw.total_tokens)
  if (usage === null) return counts && !isUnbelievable(raw) ? raw : null
  const agrees =
    raw.prompt_tokens === promptTokens(usage) && raw.completion_tokens === replyTokens(usage)
  if (!counts || !agrees) return writeUsage(usage)
  return hasKinds(raw, usage) ? raw : withKinds(raw, usage)
}

/** The usage object of a parsed reply or frame: at the top level, else at `path`. */
export function usageIn(reply: JsonObject, path?: readonly string[]): JsonObject | null {
  if (isObject(reply.usage)) return reply.usage
  if (path === undefined) return null
  let value: JsonValue | undefined = reply
  for (const name of path) {
    value = Array.isArray(value) ? value[Number(name)] : isObject(value) ? value[name] : undefined
  }
  return isObject(value) ? value : null
}
