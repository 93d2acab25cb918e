// xAI (Grok): counts reasoning outside of the completion, and answers 400 to a refused key.

import type { Fault } from '../errors.ts'
import type { JsonObject } from '../wire/ir.ts'
import { amendments, droppedWhen } from './amendments.ts'
import { openaiCompatible } from './compatible.ts'
import { thinking } from './efforts.ts'
import { lazyAdapter } from './media.ts'
import { count, detail } from './usage.ts'
import type { Vendor } from './vendor.ts'
import { type VendorVideos, videoStarts } from './video.ts'

const xaiImages = lazyAdapter(async () => (await import('./xai-images.ts')).xaiImages)
const xaiVideos: VendorVideos = {
  variants: ['video'],
  load: async () => (await import('./xai-videos.ts')).xaiVideos,
}

/**
 * `completion_tokens` excludes reasoning (observed: prompt 12, completion 1, reasoning 290, total 303), and a
 * `cached_tokens` above `prompt_tokens` means that the prompt excludes the cache.
 */
function wholeCount(usage: JsonObject): JsonObject {
  const given = count(usage.prompt_tokens)
  const shown = count(usage.completion_tokens)
  const reasoning = detail(usage, 'completion_tokens_details', 'reasoning_tokens')
  const cached = detail(usage, 'prompt_tokens_details', 'cached_tokens')
  const total = count(usage.total_tokens)
  const included = reasoning <= shown && total > 0 && total <= given + shown
  const prompt = cached > given ? given + cached : given
  const completion = included ? shown : shown + reasoning
  return {
    ...usage,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  }
}

/** The documented error body is `{"code": text, "error": text}`. */
function refine(fault: Fault, status: number, body: string): Fault {
  if (status === 400 && /"error"\s*:\s*"incorrect api key/i.test(body))
    return { ...fault, kind: 'credentials' }
  if (status === 403 && /credits|spending limit/i.test(body)) return { ...fault, kind: 'quota' }
  return fault
}

/** Answered with 400 by models that reason (xAI, "Reasoning"). */
const refused = ['presence_penalty', 'frequency_penalty', 'stop']
const three = ['low', 'medium', 'high']

/** The efforts that each model takes; those without any answer one with 400, whether they reason or not (the same page). */
const parameters = thinking(
  { name: /^grok-(.*-non-reasoning|3(?!-mini)|build|composer)/, efforts: [] },
  { name: /^grok-4\.20-multi-agent|^grok-4\.6/, efforts: [...three, 'xhigh'], refused },
  { name: /^grok-(4-(?!latest)|4\.(1|20)|code)/, efforts: [], refused },
  { name: /^grok-3-mini/, efforts: ['low', 'high'], refused },
  { name: /^grok-4\.3/, efforts: ['none', ...three], refused },
  { name: /^grok-4/, efforts: three, refused },
)

export const xai = openaiCompatible({
  id: 'xai',
  baseUrl: 'https://api.x.ai/v1',
  environment: 'XAI_API_KEY',
  speaks: [
    'openai-chat',
    'openai-completions',
    'openai-responses',
    'openai-images',
    'openai-image-edits',
    'openai-videos',
  ],
  quirks: {
    parameters,
    amend: amendments(
      droppedWhen('frequency_penalty', 0, null),
      droppedWhen('presence_penalty', 0, null),
      droppedWhen('stop', null),
    ),
    refine,
    // Observed of its searches.
    bareCitations: true,
    usage: wholeCount,
  },
  adapters: {
    'openai-images': xaiImages,
    'openai-image-edits': xaiImages,
    'openai-videos': videoStarts(xaiVideos),
  },
  videos: xaiVideos,
}) satisfies Vendor
