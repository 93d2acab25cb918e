// Vendors of sound as their documentation has them: what each answers to what it knows, and 400 to all else.

import type { Server } from 'bun'
import { samples } from '../support/sounds.ts'

export const said = {
  text: 'Hello there. Good day!',
  seconds: 4,
  parts: [
    { start: 0.2, end: 1.4, text: 'Hello there.', speaker: 0 },
    { start: 2, end: 3.25, text: 'Good day!', speaker: 1 },
  ],
  words: [
    { start: 0.2, end: 0.6, word: 'Hello', speaker: 0 },
    { start: 0.7, end: 1.4, word: 'there.', speaker: 0 },
    { start: 2, end: 2.5, word: 'Good', speaker: 1 },
    { start: 2.6, end: 3.25, word: 'day!', speaker: 1 },
  ],
} as const

/** Half a second of sound, whatever the format is called. */
export const sound = samples(12_000)

type Handler = (request: Request, url: URL) => Promise<Response> | Response

/** OpenAI's path: forms and fields that this vendor takes for a model. */
function openaiLike(
  formats: (model: string) => readonly string[],
  fields: readonly string[] | null,
  streams: (model: string) => boolean,
): Handler {
  return async (request) => {
    const form = (await request.formData()) as FormData
    const text = (name: string) => String(form.get(name) ?? '')
    const model = text('model')
    const format = text('response_format') || 'json'
    const known = (name: string) =>
      fields === null || ['file', 'model', ...fields].includes(name.replace('[]', ''))
    const unknown = [...new Set([...form].map(([name]) => name))].find((name) => !known(name))
    if (unknown !== undefined) return refused(unknown)
    if (!formats(model).includes(format)) return refused('response_format')
    if (text('stream') === 'true') return streams(model) ? streamed(format) : refused('stream')
    return openaiForm(format, form.getAll('timestamp_granularities[]').map(String))
  }
}

function refused(param: string): Response {
  const error = { message: `unknown ${param}`, type: 'invalid_request_error', param, code: null }
  return Response.json({ error }, { status: 400 })
}

const usage = { type: 'duration', seconds: said.seconds }

function openaiForm(format: string, granularities: readonly string[]): Response {
  const { text, parts, words } = said
  const plain = (body: string) => new Response(body, { headers: { 'content-type': 'text/plain' } })
  switch (format) {
    case 'text':
      return plain(`${text}\n`)
    case 'srt':
      return plain(
        '1\n00:00:00,200 --> 00:00:01,400\nHello there.\n\n2\n00:00:02,000 --> 00:00:03,250\nGood day!\n\n',
      )
    case 'vtt':
      return plain(
        'WEBVTT\n\n00:00:00.200 --> 00:00:01.400\nHello there.\n\n00:00:02.000 --> 00:00:03.250\nGood day!\n\n',
      )
    case 'verbose_json':
      return Response.json({
        task: 'transcribe',
        language: 'english',
        duration: said.seconds,
        text,
        ...(granularities.includes('word') && {
          words: words.map(({ word, start, end }) => ({ word, start, end })),
        }),
        segments: parts.map(({ start, end, text: each }, id) => ({
          id,
          start,
          end,
          text: ` ${each}`,
        })),
        usage,
      })
    case 'diarized_json':
      return Response.json({
        task: 'transcribe',
        duration: said.seconds,
        text,
        segments: parts.map(({ start, end, text: each, speaker }, at) => ({
          type: 'transcript.text.segment',
          id: `seg_${at}`,
          start,
          end,
          text: each,
          speaker: 'AB'[speaker],
        })),
        usage,
      })
    default:
      return Response.json({ text, usage })
  }
}

function streamed(format: string): Response {
  const events = [
    { type: 'transcript.text.delta', delta: 'Hello there. ' },
    { type: 'transcript.text.delta', delta: 'Good day!' },
    { type: 'transcript.text.done', text: said.text, usage },
  ]
  if (format !== 'json') return refused('response_format')
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

const mistral: Handler = async (request) => {
  const form = (await request.formData()) as FormData
  const known = ['file', 'model', 'language', 'temperature', 'diarize', 'timestamp_granularities']
  const unknown = [...form].map(([name]) => name).find((name) => !known.includes(name))
  if (unknown !== undefined) return refused(unknown)
  const times = form.get('timestamp_granularities')
  const spoken =
    times === 'word' ? said.words.map((each) => ({ ...each, text: each.word })) : said.parts
  const segments = spoken.map(({ start, end, text, speaker }) => ({
    start,
    end,
    text,
    ...(form.get('diarize') === 'true' && { speaker_id: `speaker_${speaker + 1}` }),
  }))
  return Response.json({
    text: said.text,
    language: null,
    segments: times === null ? [] : segments,
  })
}

const deepgram: Handler = (_request, { searchParams }) => {
  const who = (speaker: number) => (searchParams.get('diarize') === 'true' ? { speaker } : {})
  const words = said.words.map(({ word, start, end, speaker }) => ({
    word: word.toLowerCase().replace(/\W/g, ''),
    punctuated_word: word,
    start,
    end,
    ...who(speaker),
  }))
  const utterances = said.parts.map(({ start, end, text, speaker }) => ({
    start,
    end,
    transcript: text,
    ...who(speaker),
  }))
  const channels = [{ detected_language: 'en', alternatives: [{ transcript: said.text, words }] }]
  const metadata = { duration: said.seconds }
  return Response.json({ metadata, results: { channels, utterances } })
}

const elevenlabs: Handler = async (request) => {
  const form = (await request.formData()) as FormData
  const diarize = form.get('diarize') === 'true'
  const words = said.words.map(({ word, start, end, speaker }) => ({
    type: 'word',
    text: word,
    start,
    end,
    ...(diarize && { speaker_id: `speaker_${speaker}` }),
  }))
  return Response.json({ language_code: 'eng', text: said.text, words })
}

const google: Handler = async (request) => {
  const asked = (await request.json()) as { generationConfig: { responseSchema?: object } }
  const clock = (seconds: number) => `00:${seconds.toFixed(3).padStart(6, '0')}`
  const segments = said.parts.map(({ start, end, text, speaker }) => ({
    start: clock(start),
    end: clock(end),
    text,
    speaker: 'AB'[speaker],
  }))
  const timed = asked.generationConfig.responseSchema !== undefined
  const text = timed ? JSON.stringify({ language: 'en', segments }) : said.text
  return Response.json({ candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP' }] })
}

const whole = ['json', 'text', 'srt', 'verbose_json', 'vtt']
const usual = ['language', 'prompt', 'response_format', 'temperature', 'timestamp_granularities']
const never = () => false

/** By channel. */
export const hearing: Readonly<Record<string, Handler>> = {
  openai: openaiLike(
    (model) =>
      /^whisper/.test(model)
        ? whole
        : /diarize$/.test(model)
          ? ['json', 'text', 'diarized_json']
          : ['json'],
    null,
    (model) => !/^whisper/.test(model),
  ),
  groq: openaiLike(() => ['json', 'text', 'verbose_json'], usual, never),
  together: openaiLike(() => ['json', 'verbose_json'], usual, never),
  vllm: openaiLike(() => ['json', 'text', 'verbose_json'], null, never),
  siliconflow: openaiLike(() => ['json'], ['response_format'], never),
  mistral,
  deepgram,
  elevenlabs,
  google,
}

const types: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
}

/** Vendors of speech say the format in words of their own, or take none but theirs. */
export const speaking: Readonly<Record<string, Handler>> = {
  async openai(request) {
    const { response_format: format = 'mp3', stream_format } = (await request.json()) as Record<
      string,
      string
    >
    if (stream_format !== 'sse')
      return new Response(Uint8Array.from(sound), {
        headers: { 'content-type': types[format] ?? '' },
      })
    const events = [
      { type: 'speech.audio.delta', audio: sound.toString('base64') },
      { type: 'speech.audio.done', usage: { input_tokens: 2, output_tokens: 9, total_tokens: 11 } },
    ]
    const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  },
  mistral: () => Response.json({ audio_data: sound.toString('base64') }),
  deepgram: () =>
    new Response(Uint8Array.from(sound), { headers: { 'content-type': 'audio/any' } }),
  elevenlabs: () =>
    new Response(Uint8Array.from(sound), { headers: { 'content-type': 'audio/any' } }),
  google() {
    const mimeType = 'audio/L16;codec=pcm;rate=24000'
    const inlineData = { mimeType, data: sound.toString('base64') }
    return Response.json({
      candidates: [{ content: { parts: [{ inlineData }] }, finishReason: 'STOP' }],
    })
  },
}

export interface AudioVendors {
  /** Below it each channel has a folder. */
  readonly url: string
  /** Requests until now. */
  readonly asked: number
  stop(): Promise<void>
}

export function startAudioVendors(): AudioVendors {
  let asked = 0
  const server: Server<undefined> = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      asked++
      const url = new URL(request.url)
      const [, channel = ''] = url.pathname.split('/')
      const speaks = /speech$|speak$|text-to-speech|-tts:/.test(url.pathname)
      const handler = (speaks && !url.pathname.endsWith('speech-to-text') ? speaking : hearing)[
        channel
      ]
      return handler?.(request, url) ?? new Response('no such vendor', { status: 500 })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    get asked() {
      return asked
    },
    stop: () => server.stop(true),
  }
}
