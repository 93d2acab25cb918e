// The shipped models of every vendor, in order of precedence.

import { anthropic } from './models/anthropic.ts'
import { bedrock } from './models/bedrock.ts'
import {
  cohere,
  dashscope,
  deepseek,
  minimax,
  mistral,
  moonshot,
  perplexity,
  xai,
  zhipu,
} from './models/families.ts'
import { google, vertex } from './models/google.ts'
import { cerebras, fireworks, groq, openrouter, siliconflow, together } from './models/hosts.ts'
import { azureOpenai, openai } from './models/openai.ts'
import { jina, voyage } from './models/rankers.ts'
import { sandbox } from './models/sandbox.ts'
import { bfl, deepgram, elevenlabs, fal, kling, stability } from './models/studios.ts'
import type { ShippedModels } from './shipped.ts'

/** Where two vendors ship a model of the same name, the earlier one's entry and price are used. */
export const shippedModels: readonly ShippedModels[] = [
  sandbox,
  openai,
  azureOpenai,
  anthropic,
  xai,
  deepseek,
  mistral,
  perplexity,
  moonshot,
  zhipu,
  dashscope,
  minimax,
  groq,
  openrouter,
  together,
  fireworks,
  cerebras,
  siliconflow,
  voyage,
  jina,
  google,
  vertex,
  cohere,
  bedrock,
  bfl,
  stability,
  fal,
  kling,
  deepgram,
  elevenlabs,
]
