// Builds the response object: every member OpenAI's clients expect, with the request's settings repeated in it.

import type { WriterHead } from '../codec.ts'
import type { FinishReason, JsonObject, Usage } from '../ir.ts'
import { writeUsage } from '../openai/usage.ts'
import { ownFields, self } from './hub-fields.ts'
import { encodeSettings } from './hub-settings.ts'

/** What OpenAI shows for settings the client left out. Source: OpenAI, "The response object". */
const defaults: JsonObject = {
  access_programs: null,
  background: false,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  store: true,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  user: null,
  metadata: {},
}

/** Members of a request that a response does not repeat. */
const requestOnly = ['include', 'conversation', 'stream_options']

/** The request's settings as the response repeats them. */
export function askedOf({ request }: WriterHead): JsonObject {
  // A request that came in another format has no settings in this one's spelling.
  if (request?.wording?.[self] === undefined) return {}
  const asked = encodeSettings(request, [])
  for (const name of requestOnly) delete asked[name]
  const { conversation } = ownFields(request.wording)
  if (typeof conversation === 'string') asked['conversation'] = { id: conversation }
  else if (conversation !== undefined) asked['conversation'] = conversation
  const { reasoning, text, tools } = asked
  return {
    ...asked,
    ...(reasoning !== undefined && {
      reasoning: { ...object(defaults['reasoning']), ...object(reasoning) },
    }),
    ...(text !== undefined && { text: { ...object(defaults['text']), ...object(text) } }),
    ...(Array.isArray(tools) && { tools: tools.map(shownTool) }),
  }
}

function object(value: JsonObject[string]): JsonObject {
  return value as JsonObject
}

/** The response shows a function tool with members that the request may leave out. */
function shownTool(tool: JsonObject[string]): JsonObject {
  const given = object(tool)
  if (given['type'] !== 'function') return given
  return { description: null, strict: true, ...given }
}

interface ResponseHead {
  readonly id: string
  readonly model: string
  readonly createdAt: number
}

/** The members that stay the same from the first event to the last. */
export function bodyOf(
  { id, model, createdAt }: ResponseHead,
  asked: JsonObject,
  extras: JsonObject,
): JsonObject {
  return {
    id,
    object: 'response',
    created_at: createdAt,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    model,
    output: [],
    usage: null,
    ...defaults,
    ...asked,
    ...extras,
  }
}

/** Status members of a response, derived from the finish reason. */
export function endOf(reason: FinishReason | null): JsonObject {
  if (reason === 'length') return incomplete('max_output_tokens')
  if (reason === 'content_filter') return incomplete('content_filter')
  return { status: 'completed' }
}

function incomplete(reason: string): JsonObject {
  return { status: 'incomplete', incomplete_details: { reason } }
}

/** Converts disjoint counts into this format's usage. */
export function usageOf(usage: Usage): JsonObject {
  const written = writeUsage(usage)
  const { cacheWrite, cacheWrite1h = 0, cachedInput, reasoning } = usage
  return {
    input_tokens: written['prompt_tokens'],
    input_tokens_details: {
      cached_tokens: cachedInput,
      cache_write_tokens: cacheWrite + cacheWrite1h,
    },
    output_tokens: written['completion_tokens'],
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: written['total_tokens'],
  }
}
