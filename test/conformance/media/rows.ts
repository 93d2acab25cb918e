// The rows of the media tables: a vendor's model, how the vendor is scripted, and what its results must be.

import {
  azureImages,
  bflImages,
  dashscopeImages,
  falImages,
  geminiImages,
  openaiImages,
  ownImages,
  stabilityImages,
  xaiImages,
} from './images.ts'
import { openaiModerations } from './others.ts'
import type { Service } from './server.ts'
import {
  azureSound,
  deepgramSound,
  elevenlabsSound,
  fireworksSound,
  geminiSound,
  groqSound,
  mistralSound,
  mistralSpeech,
  openaiSound,
  ownSound,
  siliconflowSound,
  togetherSound,
  vllmSound,
} from './sound.ts'
import { falVideos, klingVideos, minimaxVideos, veoVideos, wanVideos, xaiVideos } from './videos.ts'

export type TableName = 'images' | 'transcripts' | 'speech' | 'videos' | 'moderations' | 'realtime'

export interface Row {
  readonly table: TableName
  readonly vendor: string
  readonly model: string
  /** null: the sandbox, which runs inside the gateway. */
  readonly service: Service | null
  /** The path after the vendor's own folder in its base address. */
  readonly below: string
  /** For images and videos: the size to ask for, and the size of the result. */
  readonly size: string
  readonly comes: string
  /** For videos. */
  readonly seconds: string
}

function row(
  table: TableName,
  vendor: string,
  model: string,
  service: Service | null,
  sizes: Partial<Pick<Row, 'size' | 'comes' | 'seconds'>> = {},
): Row {
  const size = sizes.size ?? '1024x1024'
  return {
    table,
    vendor,
    model,
    service,
    below: below[vendor] ?? '/v1',
    size,
    comes: sizes.comes ?? size,
    seconds: sizes.seconds ?? '4',
  }
}

/** Paths of vendors that differ from OpenAI's. */
const below: Readonly<Record<string, string>> = {
  'azure-openai': '',
  google: '/v1beta',
  vertex: '',
  dashscope: '/compatible-mode/v1',
  stability: '',
  fal: '',
  deepgram: '',
  elevenlabs: '',
}

const wide = { size: '1536x1024' }
/** Vendors that take aspect ratios, and the size that they make for one. */
const ratio = { size: '1536x1024', comes: '1248x832' }

export const imageRows: readonly Row[] = [
  row('images', 'openai', 'gpt-image-1', openaiImages, wide),
  row('images', 'openai', 'dall-e-3', openaiImages, { size: '1792x1024' }),
  row('images', 'openai', 'dall-e-2', openaiImages, { size: '512x512' }),
  row('images', 'azure-openai', 'gpt-image-1', azureImages, wide),
  row('images', 'xai', 'grok-imagine-image', xaiImages, ratio),
  row('images', 'google', 'gemini-2.5-flash-image', geminiImages, ratio),
  row('images', 'google', 'gemini-3-pro-image', geminiImages, ratio),
  row('images', 'vertex', 'gemini-2.5-flash-image', geminiImages, ratio),
  row('images', 'bfl', 'flux-pro-1.1', bflImages(), { size: '1024x768' }),
  row('images', 'bfl', 'flux-dev', bflImages(), { size: '1024x768' }),
  row('images', 'bfl', 'flux-kontext-pro', bflImages(), ratio),
  row('images', 'bfl', 'flux-2-pro', bflImages(), wide),
  row('images', 'stability', 'stable-image-core', stabilityImages, ratio),
  row('images', 'stability', 'sd3.5-large', stabilityImages, ratio),
  row('images', 'fal', 'fal-ai/flux/dev', falImages(), wide),
  row('images', 'fal', 'fal-ai/nano-banana-pro', falImages(), ratio),
  row('images', 'dashscope', 'qwen-image-2.0', dashscopeImages(), wide),
  row('images', 'dashscope', 'wan2.5-t2i-preview', dashscopeImages(), { size: '1280x1280' }),
  row('images', 'openai-compatible', 'own-painter', ownImages, wide),
  row('images', 'sandbox', 'sandbox/image', null, wide),
]

export const transcriptRows: readonly Row[] = [
  row('transcripts', 'openai', 'whisper-1', openaiSound('whisper-1')),
  row('transcripts', 'openai', 'gpt-4o-transcribe', openaiSound('gpt-4o-transcribe')),
  row(
    'transcripts',
    'openai',
    'gpt-4o-transcribe-diarize',
    openaiSound('gpt-4o-transcribe-diarize'),
  ),
  row('transcripts', 'azure-openai', 'whisper-1', azureSound('whisper-1')),
  row('transcripts', 'azure-openai', 'gpt-4o-transcribe', azureSound('gpt-4o-transcribe')),
  row('transcripts', 'groq', 'whisper-large-v3', groqSound),
  row('transcripts', 'together', 'openai/whisper-large-v3', togetherSound),
  row('transcripts', 'fireworks', 'whisper-v3', fireworksSound),
  row('transcripts', 'siliconflow', 'FunAudioLLM/SenseVoiceSmall', siliconflowSound),
  row('transcripts', 'vllm', 'openai/whisper-large-v3', vllmSound),
  row('transcripts', 'mistral', 'voxtral-mini-latest', mistralSound),
  row('transcripts', 'deepgram', 'nova-3', deepgramSound),
  row('transcripts', 'elevenlabs', 'scribe_v1', elevenlabsSound),
  row('transcripts', 'google', 'gemini-2.5-flash', geminiSound),
  row('transcripts', 'vertex', 'gemini-2.5-flash', geminiSound),
  row('transcripts', 'openai-compatible', 'own-listener', ownSound),
  row('transcripts', 'sandbox', 'sandbox/transcription', null),
]

export const speechRows: readonly Row[] = [
  row('speech', 'openai', 'gpt-4o-mini-tts', openaiSound('gpt-4o-mini-tts')),
  row('speech', 'openai', 'tts-1', openaiSound('tts-1')),
  row('speech', 'azure-openai', 'tts-1', azureSound('tts-1')),
  row('speech', 'groq', 'canopylabs/orpheus-v1-english', groqSound),
  row('speech', 'together', 'cartesia/sonic-2', togetherSound),
  row('speech', 'siliconflow', 'FunAudioLLM/CosyVoice2-0.5B', siliconflowSound),
  row('speech', 'vllm', 'own-voice', vllmSound),
  row('speech', 'mistral', 'voxtral-mini-tts-latest', mistralSpeech),
  row('speech', 'deepgram', 'aura-2', deepgramSound),
  row('speech', 'elevenlabs', 'eleven_multilingual_v2', elevenlabsSound),
  row('speech', 'google', 'gemini-2.5-flash-preview-tts', geminiSound),
  row('speech', 'vertex', 'gemini-2.5-flash-preview-tts', geminiSound),
  row('speech', 'openai-compatible', 'own-speaker', ownSound),
  row('speech', 'sandbox', 'sandbox/speech', null),
]

const noService: Service = async () => new Response('', { status: 404 })

const upright = { size: '720x1280' }

export function videoRows(openai: Service): readonly Row[] {
  return [
    row('videos', 'openai', 'sora-2', openai, upright),
    row('videos', 'openai-compatible', 'own-films', openai, upright),
    row('videos', 'google', 'veo-3.1-generate-preview', veoVideos(), upright),
    row('videos', 'xai', 'grok-imagine-video', xaiVideos(), upright),
    row('videos', 'kling', 'kling-v2-6', klingVideos(), { ...upright, seconds: '5' }),
    row('videos', 'minimax', 'MiniMax-Hailuo-02', minimaxVideos(), {
      size: '1366x768',
      seconds: '6',
    }),
    row('videos', 'dashscope', 'wan2.7-t2v', wanVideos(), { ...upright, seconds: '5' }),
    row('videos', 'fal', 'fal-ai/veo3.1', falVideos(), upright),
    row('videos', 'sandbox', 'sandbox/video', null, { size: '180x320' }),
  ]
}

export const moderationRows: readonly Row[] = [
  row('moderations', 'openai', 'omni-moderation-latest', openaiModerations),
  row('moderations', 'openai-compatible', 'own-judge', openaiModerations),
  row('moderations', 'mistral', 'mistral-moderation-latest', openaiModerations),
  row('moderations', 'sandbox', 'sandbox/moderation', null),
]

/** Scripted with separate sockets, except the sandbox. */
export const realtimeRows: readonly Row[] = [
  row('realtime', 'openai', 'gpt-realtime', noService),
  row('realtime', 'azure-openai', 'gpt-realtime', noService),
  row('realtime', 'openai-compatible', 'own-talker', noService),
  row('realtime', 'sandbox', 'sandbox/realtime', null),
]

/** By table: a client format that its vendors speak, and how their models are described and priced. */
export const tables = {
  images: {
    kind: 'image',
    prices: { image: '1000', input: '5', imageInput: '10', imageOutput: '40' },
    dialects: ['openai-images', 'openai-image-edits', 'openai-image-variations'],
  },
  transcripts: {
    kind: 'transcription',
    prices: { second: '100', input: '1', audioInput: '2', output: '3' },
    dialects: ['openai-transcriptions', 'openai-translations'],
  },
  speech: {
    kind: 'speech',
    prices: { character: '15', input: '1', audioOutput: '12' },
    dialects: ['openai-speech'],
  },
  videos: { kind: 'video', prices: { second: '100000' }, dialects: ['openai-videos'] },
  realtime: {
    kind: 'realtime',
    prices: { input: '4', cachedInput: '1', output: '16', audioInput: '32', audioOutput: '64' },
    dialects: ['openai-realtime'],
  },
  moderations: { kind: 'moderation', prices: { request: '2' }, dialects: ['openai-moderations'] },
} as const
