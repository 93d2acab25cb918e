// How vendors are asked for transcripts, translations and speech, by their own documentation.

import type { JsonObject, JsonValue } from '../../../src/wire/ir.ts'
import {
  recording,
  type SoundFormat,
  sentence,
  soundFormats,
  sounds,
  soundTypes,
  speechRate,
  speechSamples,
  spoken,
} from './made.ts'
import { type Asked, events, fileIn, oneOf, only, Refused, type Service, signed } from './server.ts'

function same(bytes: Uint8Array): void {
  if (!Buffer.from(bytes).equals(recording)) throw new Refused('the recording is damaged')
}

function stamp(seconds: number, point: string): string {
  return `00:00:${seconds.toFixed(3).padStart(6, '0').replace('.', point)}`
}

function subtitles(format: 'srt' | 'vtt'): string {
  const point = format === 'srt' ? ',' : '.'
  const blocks = spoken.segments.map(({ start, end, text }, at) => {
    const number = format === 'srt' ? `${at + 1}\n` : ''
    return `${number}${stamp(start, point)} --> ${stamp(end, point)}\n${text}\n`
  })
  return `${format === 'vtt' ? 'WEBVTT\n\n' : ''}${blocks.join('\n')}`
}

const tokens = {
  type: 'tokens',
  input_tokens: 34,
  input_token_details: { text_tokens: 4, audio_tokens: 30 },
  output_tokens: 9,
  total_tokens: 43,
}

/** The features that a server of OpenAI's form supports. */
interface TranscriptVendor {
  readonly formats: readonly string[]
  readonly fields: readonly string[]
  readonly streams?: boolean
  readonly counts?: 'tokens' | 'seconds'
  readonly wordTimes?: boolean
}

async function transcriptReply(
  asked: Asked,
  { formats, fields, streams, counts, wordTimes }: TranscriptVendor,
) {
  const form = await asked.form()
  same(await fileIn(form, 'file'))
  only(form.keys(), 'file', 'model', ...fields)
  const format = oneOf(form.get('response_format'), 'response_format', formats, 'json')
  const translated = asked.path.endsWith('/translations')
  if (translated && /gpt-4o/.test(String(form.get('model')))) throw new Refused('no translations')
  const text = translated ? spoken.english : spoken.text
  const usage = counts === 'tokens' ? tokens : { type: 'duration', seconds: spoken.seconds }
  if (form.get('stream') === 'true') {
    if (streams !== true) throw new Refused('stream is not possible')
    const [first, ...rest] = text.split(/(?<= )/)
    const deltas = [first ?? '', rest.join('')]
    const parts = deltas.map((delta) => ({ type: 'transcript.text.delta', delta }))
    return events([...parts, { type: 'transcript.text.done', text, usage }])
  }
  const plain = { headers: { 'content-type': 'text/plain; charset=utf-8' } }
  switch (format) {
    case 'text':
      return new Response(`${text}\n`, plain)
    case 'srt':
    case 'vtt':
      return new Response(subtitles(format), plain)
    case 'verbose_json': {
      const wanted = form.getAll('timestamp_granularities[]')
      const words = wordTimes !== false && wanted.includes('word') ? { words: plainWords } : {}
      const segments = spoken.segments.map(({ start, end, text }, id) => ({ id, start, end, text }))
      const task = translated ? 'translate' : 'transcribe'
      const said = { task, language: 'english', duration: spoken.seconds, text }
      return Response.json({ ...said, ...words, segments, usage })
    }
    case 'diarized_json': {
      const segments = spoken.segments.map((each, at) => ({
        type: 'transcript.text.segment',
        id: `seg_${at}`,
        ...each,
      }))
      return Response.json({ task: 'transcribe', duration: spoken.seconds, text, segments, usage })
    }
    default:
      return Response.json({ text, ...(counts !== undefined && { usage }) })
  }
}

const plainWords = spoken.words.map(({ word, start, end }) => ({ word, start, end }))
const usualFields = ['language', 'prompt', 'response_format', 'temperature']
const times = 'timestamp_granularities[]'

/** OpenAI API reference, "Audio": what each model accepts. */
const openaiModels: Readonly<Record<string, TranscriptVendor>> = {
  'whisper-1': {
    formats: ['json', 'text', 'srt', 'verbose_json', 'vtt'],
    fields: [...usualFields, times],
    counts: 'seconds',
  },
  'gpt-4o-transcribe': {
    formats: ['json'],
    fields: [...usualFields, 'stream', 'include[]', 'chunking_strategy'],
    streams: true,
    counts: 'tokens',
  },
  'gpt-4o-transcribe-diarize': {
    formats: ['json', 'text', 'diarized_json'],
    fields: [...usualFields, 'stream', 'chunking_strategy'],
    streams: true,
    counts: 'tokens',
  },
}

/** The speech features that a server of OpenAI's form supports. */
interface Said {
  readonly formats: readonly SoundFormat[]
  readonly fields?: readonly string[]
  readonly events?: boolean
}

const everything: Said = { formats: soundFormats, fields: ['instructions'], events: true }

function speech(bytes: Uint8Array, type: string): Response {
  return new Response(Uint8Array.from(bytes), { headers: { 'content-type': type } })
}

function said(body: JsonObject, { formats, fields = [], events: streams }: Said): Response {
  const common = ['model', 'input', 'voice', 'response_format', 'speed']
  only(Object.keys(body), ...common, ...fields, ...(streams === true ? ['stream_format'] : []))
  if (body['input'] !== sentence) throw new Refused('the text is damaged')
  const usual = formats.includes('mp3') ? 'mp3' : 'wav'
  const format = oneOf(body['response_format'], 'response_format', formats, usual)
  if (body['stream_format'] !== 'sse') return speech(sounds[format], soundTypes[format])
  const halves = [sounds[format].subarray(0, 1_000), sounds[format].subarray(1_000)]
  const deltas = halves.map((each) => ({
    type: 'speech.audio.delta',
    audio: each.toString('base64'),
  }))
  const usage = { input_tokens: 12, output_tokens: 30, total_tokens: 42 }
  return events([...deltas, { type: 'speech.audio.done', usage }])
}

/** A server with OpenAI's paths and these models. */
function compatible(
  sign: (asked: Asked) => void,
  hears: (asked: Asked) => TranscriptVendor,
  says: Said | null,
): Service {
  return async (asked) => {
    sign(asked)
    if (asked.path.endsWith('/audio/speech')) {
      if (says === null) throw new Refused('no such path', 404)
      return said(await asked.json(), says)
    }
    if (!/\/audio\/(transcriptions|translations)$/.test(asked.path))
      throw new Refused('no such path', 404)
    return transcriptReply(asked, hears(asked))
  }
}

const bearer = (asked: Asked) => signed(asked, 'authorization', 'Bearer ')

export function openaiSound(model: string): Service {
  const says = model === 'tts-1' ? { formats: soundFormats } : everything
  return compatible(bearer, () => openaiModels[model] ?? unknown(model), says)
}

export function azureSound(model: string): Service {
  const sign = (asked: Asked) => {
    signed(asked, 'api-key')
    if (!asked.path.startsWith('/openai/v1/')) throw new Refused('no such path', 404)
  }
  return compatible(sign, () => openaiModels[model] ?? unknown(model), { formats: soundFormats })
}

function unknown(model: string): never {
  throw new Refused(`no model ${model}`, 404)
}

const threeForms = { formats: ['json', 'text', 'verbose_json'], fields: [...usualFields, times] }

/** Groq API reference, "Create transcription" and "Create speech". */
export const groqSound = compatible(bearer, () => threeForms, { formats: ['mp3', 'wav', 'flac'] })

/** Together, "Create audio transcription request" and "Create audio generation request". */
export const togetherSound = compatible(
  bearer,
  () => ({ ...threeForms, formats: ['json', 'verbose_json'] }),
  { formats: ['mp3', 'wav'] },
)

/** Fireworks, "Transcribe audio". */
export const fireworksSound = compatible(
  bearer,
  () => ({
    formats: ['json', 'text', 'srt', 'verbose_json', 'vtt'],
    fields: [...usualFields, times],
  }),
  null,
)

/** SiliconFlow, "Create audio transcription" and "Create speech". */
export const siliconflowSound = compatible(bearer, () => ({ formats: ['json'], fields: [] }), {
  formats: ['mp3', 'opus', 'wav', 'pcm'],
  fields: ['stream', 'sample_rate', 'gain'],
})

/** vLLM, "Transcriptions API" and "Speech API". */
export const vllmSound = compatible(
  () => undefined,
  () => ({ ...threeForms, counts: 'seconds', wordTimes: false }),
  { formats: soundFormats, fields: ['instructions'] },
)

/** A server that supports all features. */
export const ownSound = compatible(
  bearer,
  () => ({
    formats: ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'],
    fields: [...usualFields, times, 'stream', 'chunking_strategy'],
    streams: true,
    counts: 'seconds',
  }),
  everything,
)

/** Mistral API, "Audio transcriptions". */
export const mistralSound: Service = async (asked) => {
  bearer(asked)
  if (asked.path !== '/v1/audio/transcriptions') throw new Refused('no such path', 404)
  const form = await asked.form()
  same(await fileIn(form, 'file'))
  const granularity = form.get('timestamp_granularities')
  only(
    form.keys(),
    'file',
    'model',
    'language',
    'temperature',
    'timestamp_granularities',
    'diarize',
  )
  if (granularity !== null && form.has('language')) throw new Refused('language beside times')
  const parts = granularity === 'word' ? wordParts : spoken.segments
  const diarize = form.get('diarize') === 'true'
  const segments = parts.map(({ start, end, text, speaker }) => ({
    start,
    end,
    text,
    ...(diarize && { speaker_id: speaker === 'A' ? 'speaker_1' : 'speaker_2' }),
  }))
  const usage = {
    prompt_audio_seconds: spoken.seconds,
    prompt_tokens: 9,
    completion_tokens: 9,
    total_tokens: 18,
  }
  return Response.json({
    model: 'voxtral-mini-latest',
    text: spoken.text,
    language: null,
    segments: granularity === null ? [] : segments,
    usage,
  })
}

const wordParts = spoken.words.map(({ word, ...rest }) => ({ ...rest, text: word }))

/** Mistral API, "Speech": base64 in JSON, samples as floating-point numbers. */
export const mistralSpeech: Service = async (asked) => {
  bearer(asked)
  if (asked.path !== '/v1/audio/speech') throw new Refused('no such path', 404)
  const body = await asked.json()
  only(Object.keys(body), 'model', 'input', 'voice_id', 'response_format')
  if (body['input'] !== sentence) throw new Refused('the text is damaged')
  const known = ['mp3', 'wav', 'pcm', 'opus', 'flac'] as const
  const format = oneOf(body['response_format'], 'response_format', known, 'mp3')
  const sound = format === 'pcm' ? floats(speechSamples) : sounds[format]
  return Response.json({ audio_data: sound.toString('base64') })
}

function floats(samples: Buffer): Buffer {
  const bytes = Buffer.alloc(samples.length * 2)
  for (let at = 0; at < samples.length; at += 2)
    bytes.writeFloatLE(samples.readInt16LE(at) / 32_767, at * 2)
  return bytes
}

/** Deepgram API reference: "Transcribe pre-recorded audio" and "Text to speech". */
export const deepgramSound: Service = async (asked) => {
  signed(asked, 'authorization', 'Token ')
  if (asked.path === '/v1/speak') return deepgramSpeech(asked)
  if (asked.path !== '/v1/listen') throw new Refused('no such path', 404)
  only(asked.query.keys(), 'model', 'smart_format', 'utterances', 'detect_language', 'diarize')
  same(await asked.bytes())
  const diarized = asked.query.get('diarize') === 'true'
  const speaker = (name: string) => (diarized ? { speaker: name === 'A' ? 0 : 1 } : {})
  const words = spoken.words.map((each) => ({
    word: each.word.toLowerCase().replace('.', ''),
    punctuated_word: each.word,
    start: each.start,
    end: each.end,
    ...speaker(each.speaker),
  }))
  const utterances = spoken.segments.map((each) => ({
    start: each.start,
    end: each.end,
    transcript: each.text,
    ...speaker(each.speaker),
  }))
  const alternatives = [{ transcript: spoken.text, confidence: 0.99, words }]
  return Response.json({
    metadata: { request_id: 'r', duration: spoken.seconds, channels: 1 },
    results: { channels: [{ detected_language: 'en', alternatives }], utterances },
  })
}

async function deepgramSpeech({ query, json }: Asked): Promise<Response> {
  only(query.keys(), 'model', 'encoding', 'container', 'sample_rate')
  if (((await json()) as { text: string }).text !== sentence) throw new Refused('damaged')
  const encoding = query.get('encoding') ?? 'mp3'
  const format =
    encoding === 'linear16' ? (query.get('container') === 'none' ? 'pcm' : 'wav') : encoding
  const known = oneOf(format, 'encoding', soundFormats, 'mp3')
  if ((known === 'pcm' || known === 'wav') && query.get('sample_rate') !== String(speechRate))
    throw new Refused('sample_rate')
  return speech(sounds[known], soundTypes[known])
}

/** ElevenLabs API reference, "Create transcript" and "Stream speech". */
export const elevenlabsSound: Service = async (asked) => {
  signed(asked, 'xi-api-key')
  if (/^\/v1\/text-to-speech\/\w+\/stream$/.test(asked.path)) {
    const body = await asked.json()
    only(Object.keys(body), 'text', 'model_id', 'voice_settings')
    if (body['text'] !== sentence) throw new Refused('the text is damaged')
    const [format = ''] = (asked.query.get('output_format') ?? '').split('_')
    const known = oneOf(format, 'output_format', ['mp3', 'opus', 'pcm'], 'mp3')
    return speech(sounds[known], soundTypes[known])
  }
  if (asked.path !== '/v1/speech-to-text') throw new Refused('no such path', 404)
  const form = await asked.form()
  same(await fileIn(form, 'file'))
  const known = ['timestamps_granularity', 'tag_audio_events', 'diarize', 'language_code']
  only(form.keys(), 'file', 'model_id', 'temperature', ...known)
  const diarize = form.get('diarize') === 'true'
  const words = spoken.words.flatMap(({ word, start, end, speaker }) => [
    {
      text: word,
      start,
      end,
      type: 'word',
      speaker_id: diarize && speaker === 'B' ? 'speaker_1' : 'speaker_0',
    },
    { text: ' ', start: end, end, type: 'spacing', speaker_id: 'speaker_0' },
  ])
  const { text, seconds: audio_duration_secs } = spoken
  return Response.json({ language_code: 'eng', text, words, audio_duration_secs })
}

/** Gemini API, "Speech generation" and "Audio understanding". */
export const geminiSound: Service = async (asked) => {
  signed(asked, 'x-goog-api-key')
  if (!asked.path.endsWith(':generateContent')) throw new Refused('no such path', 404)
  const body = (await asked.json()) as Record<string, JsonValue>
  const config = body['generationConfig'] as JsonObject
  const [content] = body['contents'] as JsonObject[]
  const parts = content?.['parts'] as JsonObject[]
  const reply = (answer: JsonObject, details: JsonObject) =>
    Response.json({
      candidates: [{ content: { role: 'model', parts: [answer] }, finishReason: 'STOP' }],
      usageMetadata: {
        promptTokenCount: 100,
        candidatesTokenCount: 30,
        totalTokenCount: 130,
        ...details,
      },
    })
  if (config['responseModalities'] !== undefined) {
    if (parts[0]?.['text'] !== sentence) throw new Refused('the text is damaged')
    const mimeType = `audio/L16;codec=pcm;rate=${speechRate}`
    const inlineData = { mimeType, data: speechSamples.toString('base64') }
    return reply(
      { inlineData },
      { candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 30 }] },
    )
  }
  const file = parts[0]?.['inlineData'] as JsonObject
  same(Buffer.from(String(file['data']), 'base64'))
  const translated = String(parts[1]?.['text']).startsWith('Translate')
  const text = translated ? spoken.english : spoken.text
  const details = { promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 96 }] }
  if (config['responseSchema'] === undefined) return reply({ text }, details)
  const segments = spoken.segments.map((each) => ({
    ...each,
    start: `00:${each.start.toFixed(3).padStart(6, '0')}`,
    end: `00:${each.end.toFixed(3).padStart(6, '0')}`,
  }))
  return reply({ text: JSON.stringify({ language: 'en', segments }) }, details)
}
