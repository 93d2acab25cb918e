// Every vendor by the name that a channel's `vendor` uses: listed explicitly, so that a search finds it.

import { recordOf } from '../config/freeze.ts'
import { anthropic } from './anthropic.ts'
import { azureOpenai } from './azure-openai.ts'
import { bedrock } from './bedrock.ts'
import { bfl } from './bfl.ts'
import { cerebras } from './cerebras.ts'
import { cohere } from './cohere.ts'
import { dashscope } from './dashscope.ts'
import { deepgram } from './deepgram.ts'
import { deepseek } from './deepseek.ts'
import { elevenlabs } from './elevenlabs.ts'
import { fal } from './fal.ts'
import { fireworks } from './fireworks.ts'
import { google } from './google.ts'
import { groq } from './groq.ts'
import { jina } from './jina.ts'
import { kling } from './kling.ts'
import { llamacpp } from './llamacpp.ts'
import { lmstudio } from './lmstudio.ts'
import { minimax } from './minimax.ts'
import { mistral } from './mistral.ts'
import { moonshot } from './moonshot.ts'
import { ollama } from './ollama.ts'
import { openai } from './openai.ts'
import { anyCompatible } from './openai-compatible.ts'
import { openrouter } from './openrouter.ts'
import { perplexity } from './perplexity.ts'
import { sandbox } from './sandbox/vendor.ts'
import { siliconflow } from './siliconflow.ts'
import { stability } from './stability.ts'
import { together } from './together.ts'
import type { Vendor } from './vendor.ts'
import { vertex } from './vertex.ts'
import { vllm } from './vllm.ts'
import { voyage } from './voyage.ts'
import { xai } from './xai.ts'
import { zhipu } from './zhipu.ts'

/** A record without inherited names such as `constructor`. */
export const vendors: Readonly<Record<string, Vendor>> = recordOf(
  Object.entries({
    openai,
    'azure-openai': azureOpenai,
    anthropic,
    xai,
    deepseek,
    mistral,
    groq,
    openrouter,
    together,
    fireworks,
    cerebras,
    perplexity,
    moonshot,
    zhipu,
    dashscope,
    minimax,
    siliconflow,
    voyage,
    jina,
    cohere,
    bedrock,
    deepgram,
    elevenlabs,
    bfl,
    stability,
    fal,
    kling,
    ollama,
    vllm,
    lmstudio,
    llamacpp,
    'openai-compatible': anyCompatible,
    google,
    vertex,
    sandbox,
  }),
)
