// Models of the vendors that serve what others trained; context windows from @pydantic/genai-prices 0.1.8, else from
// the vendors' pages as litellm 1.109.1 read them.

import { embeds, type ShippedModels, speaks, thinks, transcribes } from '../shipped.ts'

export const groq: ShippedModels = {
  vendor: 'groq',
  ownedBy: 'groq',
  models: {
    'llama-3.3-70b-versatile': { context: 131_072 },
    'llama-3.1-8b-instant': { context: 131_072 },
    'meta-llama/llama-4-maverick-17b-128e-instruct': { context: 131_072, vision: true },
    'meta-llama/llama-4-scout-17b-16e-instruct': { context: 131_072, vision: true },
    'openai/gpt-oss-120b': { ...thinks, context: 131_072 },
    'openai/gpt-oss-20b': { ...thinks, context: 131_072 },
    'qwen/qwen3-32b': { ...thinks, context: 131_072 },
    'whisper-large-v3': transcribes,
    'whisper-large-v3-turbo': transcribes,
    'canopylabs/orpheus-v1-english': speaks,
  },
}

export const openrouter: ShippedModels = {
  vendor: 'openrouter',
  ownedBy: 'openrouter',
  models: {
    'openrouter/auto': { vision: true },
    'openai/gpt-6-sol': { ...thinks, context: 1_050_000, vision: true },
    'openai/gpt-6-luna': { ...thinks, context: 1_050_000, vision: true },
    'openai/gpt-5.1': { ...thinks, context: 400_000, vision: true },
    'openai/gpt-5-mini': { ...thinks, context: 400_000, vision: true },
    'openai/gpt-4.1': { context: 1_047_576, vision: true },
    'openai/gpt-4o-mini': { context: 128_000, vision: true },
    'openai/gpt-oss-120b': { ...thinks, context: 131_072 },
    'anthropic/claude-opus-5.5': { context: 1_000_000, vision: true },
    'anthropic/claude-opus-5': { context: 1_000_000, vision: true },
    'anthropic/claude-sonnet-5': { context: 1_000_000, vision: true },
    'anthropic/claude-sonnet-4.5': { context: 1_000_000, vision: true },
    'anthropic/claude-haiku-4.5': { context: 200_000, vision: true },
    'google/gemini-3.5-flash': { ...thinks, context: 1_048_576, vision: true },
    'google/gemini-3.1-pro-preview': { ...thinks, context: 1_048_576, vision: true },
    'google/gemini-3.1-flash-lite': { context: 1_048_576, vision: true },
    'google/gemini-2.5-pro': { ...thinks, context: 1_048_576, vision: true },
    'google/gemini-2.5-flash': { context: 1_048_576, vision: true },
    'x-ai/grok-4.20': { ...thinks, context: 2_000_000, vision: true },
    'x-ai/grok-4-fast': { ...thinks, context: 2_000_000, vision: true },
    'deepseek/deepseek-v3.2': { context: 163_840 },
    'deepseek/deepseek-r1-0528': { ...thinks, context: 163_840 },
    'moonshotai/kimi-k3': { ...thinks, context: 1_048_576, vision: true },
    'qwen/qwen3-32b': { ...thinks, context: 40_960 },
    'meta-llama/llama-3.3-70b-instruct': { context: 131_072 },
    'mistralai/mistral-large-2512': { context: 262_144, vision: true },
    'minimax/minimax-m2.1': { ...thinks, context: 204_800 },
  },
}

export const together: ShippedModels = {
  vendor: 'together',
  ownedBy: 'together',
  models: {
    'meta-llama/Llama-3.3-70B-Instruct-Turbo': { context: 131_072 },
    'meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo': { context: 131_072 },
    'meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8': { context: 1_048_576, vision: true },
    'meta-llama/Llama-4-Scout-17B-16E-Instruct': { context: 1_048_576, vision: true },
    'deepseek-ai/DeepSeek-V3': {},
    'deepseek-ai/DeepSeek-R1': thinks,
    'openai/gpt-oss-120b': { ...thinks, context: 131_072 },
    'openai/gpt-oss-20b': { ...thinks, context: 131_072 },
    'Qwen/Qwen2.5-7B-Instruct-Turbo': { context: 32_768 },
    'BAAI/bge-large-en-v1.5': embeds,
    'intfloat/multilingual-e5-large-instruct': embeds,
  },
}

export const fireworks: ShippedModels = {
  vendor: 'fireworks',
  ownedBy: 'fireworks',
  models: {
    'accounts/fireworks/models/kimi-k3': { ...thinks, context: 1_040_000, vision: true },
    'accounts/fireworks/models/kimi-k2p5': { ...thinks, context: 262_144, vision: true },
    'accounts/fireworks/models/deepseek-v4-pro': { ...thinks, context: 1_048_576 },
    'accounts/fireworks/models/deepseek-v4-flash': { ...thinks, context: 1_040_000 },
    'accounts/fireworks/models/deepseek-v3p2': { context: 163_840 },
    'accounts/fireworks/models/glm-5p2': { ...thinks, context: 1_040_000 },
    'accounts/fireworks/models/glm-4p7': { ...thinks, context: 202_752 },
    'accounts/fireworks/models/gpt-oss-120b': { ...thinks, context: 131_072 },
    'accounts/fireworks/models/gpt-oss-20b': { ...thinks, context: 131_072 },
    'accounts/fireworks/models/minimax-m3': { ...thinks, context: 524_288, vision: true },
    'accounts/fireworks/models/minimax-m2p1': { ...thinks, context: 204_800 },
    'accounts/fireworks/models/qwen2p5-vl-72b-instruct': { context: 128_000, vision: true },
    'nomic-ai/nomic-embed-text-v1.5': embeds,
  },
}

export const cerebras: ShippedModels = {
  vendor: 'cerebras',
  ownedBy: 'cerebras',
  models: {
    'gpt-oss-120b': { ...thinks, context: 131_072 },
    'gemma-4-31b': { context: 131_072, vision: true },
    'zai-glm-4.7': { ...thinks, context: 131_072 },
    'qwen-3-235b-a22b-instruct-2507': {},
    'llama3.1-8b': { context: 128_000 },
  },
}

export const siliconflow: ShippedModels = {
  vendor: 'siliconflow',
  ownedBy: 'siliconflow',
  models: {
    'deepseek-ai/DeepSeek-V3': {},
    'deepseek-ai/DeepSeek-V3.1': {},
    'deepseek-ai/DeepSeek-R1': thinks,
    'moonshotai/Kimi-K2-Instruct': {},
    'Qwen/Qwen3-235B-A22B-Instruct-2507': {},
    'Qwen/Qwen3-32B': thinks,
    'Qwen/Qwen2.5-72B-Instruct': {},
    'Qwen/Qwen2.5-VL-72B-Instruct': { vision: true },
    'zai-org/GLM-4.5': thinks,
    'BAAI/bge-m3': { ...embeds, context: 8_192 },
    'Qwen/Qwen3-Embedding-8B': embeds,
  },
}
