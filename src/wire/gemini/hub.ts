// The Gemini format's codec to and from the hub.

import type { ClientHub, VendorHub } from '../codec.ts'
import { decodeRequest } from './decode-request.ts'
import { encodeRequest } from './encode-request.ts'
import { GeminiReader } from './reader.ts'
import { GeminiWriter, writeWhole } from './writer.ts'

/** `generationConfig` holds most of them. */
const settings = Object.entries({
  max_tokens: 'maxOutputTokens',
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  stop: 'stopSequences',
  n: 'candidateCount',
  seed: 'seed',
  frequency_penalty: 'frequencyPenalty',
  presence_penalty: 'presencePenalty',
  response_format: 'responseSchema',
  reasoning_effort: 'thinkingConfig',
  logprobs: 'responseLogprobs',
  modalities: 'responseModalities',
})

const fieldNames = new Map<string, readonly string[]>([
  ...settings.map(([name, own]) => [name, [`generationConfig.${own}`]] as const),
  ['messages', ['contents']],
  ['tool_choice', ['toolConfig']],
  ['service_tier', ['serviceTier']],
])

export const geminiHub: ClientHub & VendorHub = {
  decodeRequest,
  fieldNames,
  encodeRequest,
  oneText: true,
  anyReply: true,
  saysPictures: true,
  // Google fetches public addresses over HTTPS alone (ai.google.dev, "File input methods").
  needsBytes: ({ url }) => /^http:/i.test(url),
  reader: (quirks) => new GeminiReader(quirks),
  readWhole: (body, quirks) => new GeminiReader(quirks).whole(body),
  writer: (head) => new GeminiWriter(head),
  writeWhole,
}
