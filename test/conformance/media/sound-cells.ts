// The tests of transcripts and speech: times are read back from subtitles, sounds from their containers.

import { Buffer } from 'node:buffer'
import type OpenAI from 'openai'
import { toFile } from 'openai'
import { seeFlac, seeMp3 } from '../../../src/vendors/sandbox/media/testing.ts'
import { type ReadCue, readSrt, readVtt, readWav } from '../../support/sounds.ts'
import {
  recording,
  type SoundFormat,
  sentence,
  soundFormats,
  sounds,
  soundTypes,
  speechSamples,
  spoken,
} from './made.ts'
import type { Row } from './rows.ts'
import { alike, check, type Feature } from './tried.ts'

const file = () => toFile(recording, 'speech.wav', { type: 'audio/wav' })

/** The spoken text; the sandbox chooses its text, and reports how long the recording was. */
function isText(text: string, { service }: Row, expected: string = spoken.text): void {
  if (service === null) check(text.includes('3 seconds long'), `not the recording: ${text}`)
  else alike(text, expected, 'text')
}

function areCues(cues: readonly ReadCue[], row: Row): void {
  isText(cues.map(({ text }) => text).join(' '), row)
  const times = cues.map(({ startMs, endMs }) => [startMs, endMs])
  const said = spoken.segments.map(({ start, end }) => [start * 1_000, end * 1_000])
  alike(times, row.service === null ? [[0, 3_000]] : said, 'times')
}

type Form = Omit<OpenAI.Audio.TranscriptionCreateParamsNonStreaming, 'file' | 'model'>

function transcript<Reply>(
  name: string,
  form: Form,
  see: (reply: Reply, row: Row) => undefined | 'not offered',
): Feature {
  return {
    name,
    dialect: 'openai-transcriptions',
    async ask(client, row) {
      const asked = { model: row.model, file: await file(), ...form }
      return see((await client.audio.transcriptions.create(asked)) as Reply, row)
    },
  }
}

interface Verbose {
  readonly text: string
  readonly duration: number
  readonly segments: readonly {
    readonly start: number
    readonly end: number
    readonly text: string
  }[]
  readonly words?: readonly {
    readonly start: number
    readonly end: number
    readonly word: string
  }[]
}

const asCues = (parts: readonly { start: number; end: number; text: string }[]) =>
  parts.map(({ start, end, text }) => ({
    startMs: Math.round(start * 1_000),
    endMs: Math.round(end * 1_000),
    text: text.trim(),
  }))

export const transcriptFeatures: readonly Feature[] = [
  transcript('json', {}, ({ text }: { text: string }, row) => {
    isText(text, row)
    return undefined
  }),
  transcript('text', { response_format: 'text' }, (text: string, row) => {
    isText(text.trim(), row)
    return undefined
  }),
  transcript('srt', { response_format: 'srt' }, (text: string, row) => {
    areCues(readSrt(text), row)
    return undefined
  }),
  transcript('vtt', { response_format: 'vtt' }, (text: string, row) => {
    areCues(readVtt(text), row)
    return undefined
  }),
  transcript('verbose_json', { response_format: 'verbose_json' }, (reply: Verbose, row) => {
    isText(reply.text, row)
    areCues(asCues(reply.segments), row)
    check(Math.abs(reply.duration - spoken.seconds) < 0.11, `duration ${reply.duration}`)
    return undefined
  }),
  transcript(
    'words',
    { response_format: 'verbose_json', timestamp_granularities: ['word'] },
    ({ words, text }: Verbose, row) => {
      if (words === undefined) return 'not offered'
      isText(words.map(({ word }) => word).join(' '), row, text)
      const said = spoken.words.map(({ start, end }) => [start, end])
      const times = words.map(({ start, end }) => [start, end])
      if (row.service !== null) alike(times, said, 'times')
      else alike([times[0]?.[0], times.at(-1)?.[1]], [0, 3], 'times')
      return undefined
    },
  ),
  transcript(
    'diarized_json',
    { response_format: 'diarized_json', chunking_strategy: 'auto' },
    ({ segments }: OpenAI.Audio.TranscriptionDiarized, row) => {
      areCues(asCues(segments), row)
      const speakers = segments.map(({ speaker }) => speaker)
      alike(speakers, row.service === null ? ['A'] : ['A', 'B'], 'speakers')
      return undefined
    },
  ),
  {
    name: 'streamed',
    dialect: 'openai-transcriptions',
    async ask(client, row) {
      const asked = { model: row.model, file: await file(), stream: true } as const
      let received = ''
      let done = ''
      for await (const event of await client.audio.transcriptions.create(asked)) {
        if (event.type === 'transcript.text.delta') received += event.delta
        if (event.type === 'transcript.text.done') done = event.text
      }
      isText(done, row)
      alike(received, done, 'deltas')
      return undefined
    },
  },
  {
    name: 'translations',
    dialect: 'openai-translations',
    async ask(client, row) {
      const { text } = await client.audio.translations.create({
        model: row.model,
        file: await file(),
      })
      isText(text, row, spoken.english)
      return undefined
    },
  },
]

/** The sandbox speaks fifteen characters a second. */
const sandboxSeconds = sentence.length / 15

function isSound(bytes: Buffer, format: SoundFormat, row: Row): void {
  if (row.service === null) {
    const seconds = secondsOf(bytes, format)
    check(Math.abs(seconds - sandboxSeconds) < 0.1, `${seconds} seconds`)
  } else if (format === 'wav') {
    const { rate, channels, bits, data } = readWav(bytes)
    alike([rate, channels, bits, data.length / rate / 2], [24_000, 1, 16, 1.5], 'WAV')
    check(data.equals(speechSamples), 'not the sound that was made')
  } else check(bytes.equals(sounds[format]), 'not the sound that was made')
}

function secondsOf(bytes: Buffer, format: SoundFormat): number {
  switch (format) {
    case 'mp3':
      return seeMp3(bytes).seconds
    case 'flac':
      return seeFlac(bytes).seconds
    case 'wav': {
      const { rate, channels, bits, data } = readWav(bytes)
      return data.length / rate / channels / (bits / 8)
    }
    default:
      return bytes.length / 48_000
  }
}

function speech(format: SoundFormat): Feature {
  return {
    name: format,
    dialect: 'openai-speech',
    async ask(client, row) {
      const { data, response } = await client.audio.speech
        .create({ model: row.model, voice: 'alloy', input: sentence, response_format: format })
        .withResponse()
      isSound(Buffer.from(await data.arrayBuffer()), format, row)
      alike(response.headers.get('content-type'), soundTypes[format], 'type')
      return undefined
    },
  }
}

export const speechFeatures: readonly Feature[] = [
  ...soundFormats.map(speech),
  {
    name: 'SSE',
    dialect: 'openai-speech',
    async ask(client, row) {
      const asked = { model: row.model, voice: 'alloy', input: sentence } as const
      const reply = await client.audio.speech.create({ ...asked, stream_format: 'sse' })
      const frames = (await reply.text()).split('\n\n').filter((frame) => frame !== '')
      const events = frames.map((frame) => JSON.parse(frame.replace(/^data: /, '')))
      alike(events.at(-1)?.type, 'speech.audio.done', 'last event')
      const pieces = events.flatMap(({ audio }) => (audio === undefined ? [] : [audio]))
      const bytes = Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64')))
      const wav = bytes.toString('latin1', 0, 4) === 'RIFF'
      isSound(bytes, wav ? 'wav' : 'mp3', row)
      return undefined
    },
  },
]
