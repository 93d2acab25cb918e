// Models of OpenAI, from the model pages of platform.openai.com/docs/models and @pydantic/genai-prices 0.1.8.

import {
  converses,
  draws,
  embeds,
  films,
  moderates,
  type ShippedModel,
  type ShippedModels,
  speaks,
  thinks,
  transcribes,
} from '../shipped.ts'

const gpt5: ShippedModel = { ...thinks, context: 400_000, maxOutput: 128_000, vision: true }
const gpt54: ShippedModel = { ...thinks, context: 1_050_000, vision: true }
const gpt41: ShippedModel = { context: 1_047_576, maxOutput: 32_768, vision: true }
const gpt4o: ShippedModel = { context: 128_000, maxOutput: 16_384, vision: true }
const reasoning: ShippedModel = { ...thinks, context: 200_000, maxOutput: 100_000, vision: true }

/** Images, audio, video and moderations; other vendors serve those that OpenAI has shut down under the same names. */
const media: ShippedModels['models'] = {
  'gpt-image-2.5-sunburst': draws,
  'gpt-image-2.5-flare': draws,
  'gpt-image-2': draws,
  'gpt-image-1.5': draws,
  'gpt-image-1': draws,
  'gpt-image-1-mini': draws,
  'chatgpt-image-latest': draws,
  'dall-e-3': draws,
  'dall-e-2': draws,
  'sora-2': films,
  'sora-2-pro': films,
  'sora-2-portrait': { ...films, calls: 'sora-2' },
  'sora-2-landscape': { ...films, calls: 'sora-2' },
  'gpt-transcribe': transcribes,
  'gpt-4o-transcribe': transcribes,
  'gpt-4o-transcribe-diarize': transcribes,
  'gpt-4o-mini-transcribe': transcribes,
  'whisper-1': transcribes,
  'gpt-4o-mini-tts': speaks,
  'tts-1': speaks,
  'tts-1-hd': speaks,
  'omni-moderation-latest': moderates,
  'text-moderation-latest': moderates,
  'gpt-realtime-2.1': converses,
  'gpt-realtime-2.1-mini': converses,
  'gpt-realtime-2': converses,
  'gpt-realtime-1.5': converses,
  'gpt-realtime': converses,
  'gpt-realtime-mini': converses,
}

/** Azure serves these through deployments, which are usually named after the model. */
const azureModels: ShippedModels['models'] = {
  'gpt-5.4': gpt54,
  'gpt-5.2': gpt5,
  'gpt-5.1': gpt5,
  'gpt-5': gpt5,
  'gpt-5-mini': gpt5,
  'gpt-5-nano': gpt5,
  'gpt-4.1': gpt41,
  'gpt-4.1-mini': gpt41,
  'gpt-4.1-nano': gpt41,
  'gpt-4o': gpt4o,
  'gpt-4o-mini': gpt4o,
  o1: reasoning,
  o3: reasoning,
  'o3-mini': { ...reasoning, vision: false },
  'o4-mini': reasoning,
  'text-embedding-3-large': { ...embeds, context: 8_192 },
  'text-embedding-3-small': { ...embeds, context: 8_192 },
  'text-embedding-ada-002': { ...embeds, context: 8_192 },
}

export const openai: ShippedModels = {
  vendor: 'openai',
  ownedBy: 'openai',
  models: {
    'gpt-6-astra': gpt54,
    'gpt-6-sol': gpt54,
    'gpt-6-luna': gpt54,
    'gpt-5.6-sol': gpt54,
    'gpt-5.6-terra': gpt54,
    'gpt-5.6-luna': gpt54,
    'gpt-5.5': { ...thinks, context: 1_000_000, vision: true },
    ...azureModels,
    // The only snapshot that costs more than the model it belongs to.
    'gpt-4o-2024-05-13': { ...gpt4o, maxOutput: 4_096 },
    'gpt-5.4-mini': { ...thinks, context: 400_000, vision: true },
    'gpt-5.4-nano': { ...thinks, context: 400_000, vision: true },
    'gpt-4-turbo': { context: 128_000, maxOutput: 4_096, vision: true },
    'gpt-4': { context: 8_192, maxOutput: 8_192 },
    'gpt-3.5-turbo': { context: 16_385, maxOutput: 4_096 },
    'gpt-3.5-turbo-instruct': { kind: 'completion', context: 4_096, maxOutput: 4_096 },
    'davinci-002': { kind: 'completion', context: 16_384, maxOutput: 16_384 },
    'babbage-002': { kind: 'completion', context: 16_384, maxOutput: 16_384 },
    ...media,
  },
}

export const azureOpenai: ShippedModels = {
  vendor: 'azure-openai',
  ownedBy: 'openai',
  models: azureModels,
}
