// Alibaba Cloud Model Studio (Qwen), through its compatible mode.

import type { Fault } from '../errors.ts'
import type { JsonObject } from '../wire/ir.ts'
import { isObject } from '../wire/json/value.ts'
import { type Amendment, amendments, developerAsSystem, maxTokensOnly } from './amendments.ts'
import { allDialects, openaiCompatible } from './compatible.ts'
import { lazyAdapter } from './media.ts'
import { detail } from './usage.ts'
import type { Call, Vendor } from './vendor.ts'
import { type VendorVideos, videoStarts } from './video.ts'

const dashscopeImages = lazyAdapter(
  async () => (await import('./dashscope-images.ts')).dashscopeImages,
)
const wan: VendorVideos = {
  variants: ['video'],
  load: async () => (await import('./dashscope-videos.ts')).wan,
}

/** Renames the count of tokens written to an explicit cache to the name that the gateway reads. */
function cacheWrites(usage: JsonObject): JsonObject {
  const written = detail(usage, 'prompt_tokens_details', 'cache_creation_input_tokens')
  const details = usage.prompt_tokens_details
  if (written === 0 || !isObject(details)) return usage
  return { ...usage, prompt_tokens_details: { ...details, cache_write_tokens: written } }
}

/** An account in arrears gets 400 with code `Arrearage`; what moderation refuses gets `DataInspectionFailed`. */
function refine(fault: Fault, _status: number, body: string): Fault {
  if (/"DataInspection_?Failed"/i.test(body))
    return { ...fault, kind: 'rejected', code: 'content_policy_violation' }
  return body.includes('"Arrearage"') ? { ...fault, kind: 'quota' } : fault
}

const openThinkers = /^qwen3-\d(?!.*(instruct|thinking|coder))/

/** The open models think unless told otherwise, and answer 400 to that in a whole reply (Model Studio, "Deep thinking"). */
const wholeWithoutThinking: Amendment = {
  wants: mustNotThink,
  apply(body, call) {
    if (mustNotThink(call)) body.enable_thinking ??= false
  },
}

function mustNotThink({ dialect, model, stream }: Call): boolean {
  return dialect === 'openai-chat' && !stream && openThinkers.test(model)
}

/** Keys of other regions need other hosts, such as https://dashscope-intl.aliyuncs.com/compatible-mode/v1. */
export const dashscope = openaiCompatible({
  id: 'dashscope',
  ownedBy: 'alibaba',
  baseUrl: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
  environment: 'DASHSCOPE_API_KEY',
  speaks: [...allDialects, 'openai-images', 'openai-image-edits', 'openai-videos'],
  quirks: {
    amend: amendments(maxTokensOnly, developerAsSystem, wholeWithoutThinking),
    refine,
    // Model Studio, "Context cache", explicit cache.
    cacheMarks: (model) => (/^qwen/.test(model) ? '5m' : null),
    usage: cacheWrites,
  },
  adapters: {
    'openai-images': dashscopeImages,
    'openai-image-edits': dashscopeImages,
    'openai-videos': videoStarts(wan),
  },
  videos: wan,
}) satisfies Vendor
