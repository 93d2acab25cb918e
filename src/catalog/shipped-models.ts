// The shipped models of every vendor, in the order that decides between vendors.

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
import { cerebras, fireworks, groq, openrouter, siliconflow, together } from './models/hosts.ts'
import { azureOpenai, openai } from './models/openai.ts'
import { sandbox } from './models/sandbox.ts'
import type { ShippedModels } from './shipped.ts'

/** Where two vendors ship a model of one name, the earlier one's entry and price are taken. */
export const shippedModels: readonly ShippedModels[] = [
  sandbox,
  openai,
  azureOpenai,
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
  cohere,
  bedrock,
]
