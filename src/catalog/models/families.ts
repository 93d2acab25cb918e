// Models of the other vendors that serve what they train; context windows from @pydantic/genai-prices 0.1.8, else from
// the vendors' pages as litellm 1.109.1 read them.

import {
  draws,
  embeds,
  films,
  moderates,
  type ShippedModels,
  speaks,
  thinks,
  transcribes,
} from '../shipped.ts'

export const xai: ShippedModels = {
  vendor: 'xai',
  ownedBy: 'xai',
  models: {
    'grok-4.6': { ...thinks, context: 500_000, vision: true },
    'grok-4.5': { ...thinks, context: 500_000, vision: true },
    'grok-4.3': { ...thinks, context: 1_000_000, vision: true },
    'grok-4-0709': { ...thinks, context: 256_000, vision: true },
    'grok-4-1-fast-reasoning': { ...thinks, context: 2_000_000, vision: true },
    'grok-4-1-fast-non-reasoning': { context: 2_000_000, vision: true },
    'grok-4-fast-reasoning': { ...thinks, context: 2_000_000, vision: true },
    'grok-4-fast-non-reasoning': { context: 2_000_000, vision: true },
    'grok-code-fast-1': { ...thinks, context: 256_000 },
    'grok-3': { context: 131_072 },
    'grok-3-mini': { ...thinks, context: 131_072 },
    'grok-imagine-image-2.0': draws,
    'grok-imagine-image-quality': draws,
    'grok-imagine-image': draws,
    'grok-imagine-video-1.5': films,
    'grok-imagine-video-1.5-lite': films,
    'grok-imagine-video': films,
  },
}

export const deepseek: ShippedModels = {
  vendor: 'deepseek',
  ownedBy: 'deepseek',
  models: {
    'deepseek-v4-pro': { ...thinks, context: 1_000_000 },
    'deepseek-v4-flash': { ...thinks, context: 1_000_000 },
    'deepseek-chat': { context: 131_072 },
    'deepseek-reasoner': { ...thinks, context: 131_072 },
  },
}

export const mistral: ShippedModels = {
  vendor: 'mistral',
  ownedBy: 'mistral',
  models: {
    'mistral-large-latest': { context: 262_144, vision: true },
    'mistral-large-2512': { context: 262_144, vision: true },
    'mistral-medium-latest': { context: 262_144, vision: true },
    'mistral-small-latest': { context: 262_144, vision: true },
    'mistral-small-2603': { context: 262_144, vision: true },
    'magistral-medium-latest': { ...thinks, context: 262_144, vision: true },
    'magistral-medium-2507': { ...thinks, context: 40_000 },
    'magistral-small-latest': { ...thinks, context: 262_144, vision: true },
    'ministral-14b-2512': { context: 262_144, vision: true },
    'ministral-8b-2512': { context: 262_144, vision: true },
    'ministral-3b-2512': { context: 131_072, vision: true },
    'codestral-latest': { context: 256_000 },
    'codestral-2508': { context: 256_000 },
    'devstral-2512': { context: 262_144 },
    'open-mistral-nemo': { context: 128_000 },
    'mistral-embed': { ...embeds, context: 8_192 },
    'codestral-embed': embeds,
    'voxtral-mini-latest': transcribes,
    'voxtral-mini-2602': transcribes,
    'voxtral-mini-tts-2603': speaks,
    'mistral-moderation-latest': moderates,
    'mistral-moderation-2603': moderates,
  },
}

export const perplexity: ShippedModels = {
  vendor: 'perplexity',
  ownedBy: 'perplexity',
  models: {
    sonar: { context: 128_000, vision: true },
    'sonar-pro': { context: 200_000, vision: true },
    'sonar-reasoning-pro': { ...thinks, context: 128_000, vision: true },
    'sonar-deep-research': { ...thinks, context: 128_000 },
  },
}

export const moonshot: ShippedModels = {
  vendor: 'moonshot',
  ownedBy: 'moonshot',
  models: {
    'kimi-k3': { ...thinks, context: 1_048_576, vision: true },
    'kimi-k2.7-code': { ...thinks, context: 262_144, vision: true },
    'kimi-k2.7-code-highspeed': { ...thinks, context: 262_144, vision: true },
    'kimi-k2.6': { ...thinks, context: 262_144, vision: true },
    'kimi-k2.5': { ...thinks, context: 262_144, vision: true },
    'moonshot-v1-8k': { context: 8_192 },
    'moonshot-v1-32k': { context: 32_768 },
    'moonshot-v1-128k': { context: 131_072 },
    'moonshot-v1-8k-vision-preview': { context: 8_192, vision: true },
    'moonshot-v1-32k-vision-preview': { context: 32_768, vision: true },
    'moonshot-v1-128k-vision-preview': { context: 131_072, vision: true },
  },
}

export const zhipu: ShippedModels = {
  vendor: 'zhipu',
  ownedBy: 'zhipu',
  models: {
    'glm-5.3': { ...thinks, context: 1_000_000 },
    'glm-5.3-flash': { ...thinks, context: 1_000_000, vision: true },
    'glm-5.2': { ...thinks, context: 1_000_000 },
    'glm-5.1': { ...thinks, context: 200_000 },
    'glm-5-turbo': { ...thinks, context: 200_000 },
    'glm-5': { ...thinks, context: 200_000 },
    'glm-4.7': { ...thinks, context: 200_000 },
    'glm-4.5-air': { ...thinks, context: 128_000 },
    'glm-4.5v': { ...thinks, context: 128_000, vision: true },
    'glm-4-plus': { context: 128_000 },
    'glm-4-long': { context: 1_000_000 },
    'embedding-3': embeds,
    'embedding-2': embeds,
  },
}

export const dashscope: ShippedModels = {
  vendor: 'dashscope',
  ownedBy: 'qwen',
  models: {
    'qwen3-max': { context: 258_048 },
    'qwen-max': { context: 30_720 },
    'qwen-plus': { context: 129_024 },
    'qwen-flash': { context: 997_952 },
    'qwen-turbo': { context: 129_024 },
    'qwen3-coder-plus': { context: 997_952 },
    'qwen3-coder-flash': { context: 997_952 },
    'qwq-plus': { ...thinks, context: 98_304 },
    'qwen3-vl-plus': { context: 260_096, vision: true },
    'qwen-vl-max': { vision: true },
    'qwen-vl-plus': { vision: true },
    'text-embedding-v4': embeds,
    'text-embedding-v3': embeds,
    'qwen-image-3.0': draws,
    'qwen-image-2.0-pro': draws,
    'qwen-image-2.0': draws,
    'qwen-image-max': draws,
    'qwen-image-plus': draws,
    'qwen-image': draws,
    'wan2.6-t2i': draws,
    'wan2.5-t2i-preview': draws,
    'wan2.2-t2i-plus': draws,
    'wan2.2-t2i-flash': draws,
    'wan3.0-video': films,
    'wan2.7-t2v': films,
    'wan2.7-i2v': films,
  },
}

export const minimax: ShippedModels = {
  vendor: 'minimax',
  ownedBy: 'minimax',
  models: {
    'MiniMax-M3': { ...thinks, context: 1_000_000, vision: true },
    'MiniMax-M2.7': { ...thinks, context: 204_800 },
    'MiniMax-M2.7-highspeed': { ...thinks, context: 204_800 },
    'MiniMax-M2.5-highspeed': { ...thinks, context: 204_800 },
    'MiniMax-M2.1-highspeed': { ...thinks, context: 204_800 },
    'MiniMax-M2': { ...thinks, context: 204_800 },
    'MiniMax-M1': { ...thinks, context: 1_000_000 },
    'MiniMax-Text-01': {},
    'MiniMax-H3': films,
    'MiniMax-Hailuo-2.3': films,
    'MiniMax-Hailuo-2.3-Fast': films,
    'MiniMax-Hailuo-02': films,
    'speech-2.6-hd': speaks,
    'speech-2.6-turbo': speaks,
    'speech-02-hd': speaks,
    'speech-02-turbo': speaks,
  },
}

export const cohere: ShippedModels = {
  vendor: 'cohere',
  ownedBy: 'cohere',
  models: {
    'command-a-03-2025': { context: 256_000 },
    'command-r-plus-08-2024': { context: 128_000 },
    'command-r-08-2024': { context: 128_000 },
    'command-r7b-12-2024': { context: 128_000 },
    'c4ai-aya-expanse-32b': { context: 128_000 },
    'c4ai-aya-expanse-8b': { context: 8_192 },
  },
}
