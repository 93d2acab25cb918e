// Every form of sound on every vendor: what works is seen to work, and written down.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { wav } from '../support/samples.ts'
import { type ReadCue, readSrt, readVtt, readWav } from '../support/sounds.ts'
import { type AudioVendors, said, sound, startAudioVendors } from './audio-vendors.ts'

const page = join(import.meta.dir, '../../docs/conformance-audio.md')
/** Writes the page anew instead of holding it to what was seen. */
const writes = process.env['TOLLGATE_WRITE_CONFORMANCE'] === '1'

const hears = [
  ['openai', 'whisper-1'],
  ['openai', 'gpt-4o-transcribe'],
  ['openai', 'gpt-4o-transcribe-diarize'],
  ['groq', 'whisper-large-v3'],
  ['together', 'openai/whisper-large-v3'],
  ['vllm', 'whisper'],
  ['siliconflow', 'FunAudioLLM/SenseVoiceSmall'],
  ['mistral', 'voxtral-mini-latest'],
  ['deepgram', 'nova-3'],
  ['elevenlabs', 'scribe_v1'],
  ['google', 'gemini-2.5-flash'],
] as const
const speaks = [
  ['openai', 'gpt-4o-mini-tts'],
  ['mistral', 'voxtral-mini-tts-2603'],
  ['deepgram', 'aura-2'],
  ['elevenlabs', 'eleven_multilingual_v2'],
  ['google', 'gemini-2.5-flash-preview-tts'],
] as const

/** What is asked beside the file, by the column's name. */
const forms = {
  json: {},
  text: { response_format: 'text' },
  srt: { response_format: 'srt' },
  vtt: { response_format: 'vtt' },
  segments: { response_format: 'verbose_json' },
  words: { response_format: 'verbose_json', 'timestamp_granularities[]': 'word' },
  speakers: { response_format: 'diarized_json' },
  events: { stream: 'true' },
} as const
type Form = keyof typeof forms
const formNames = Object.keys(forms) as Form[]
const formats = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm', 'events'] as const
type Format = (typeof formats)[number]

let vendors: AudioVendors
let gateway: Gateway

beforeAll(async () => {
  vendors = startAudioVendors()
  const base: Readonly<Record<string, string>> = { deepgram: '', elevenlabs: '', google: '/v1beta' }
  const ids = [...new Set([...hears, ...speaks].map(([id]) => id))]
  const kindOf = (kind: string, prices: object) => (rows: readonly (readonly [string, string])[]) =>
    rows.map(([, model]) => [model, { kind, prices }])
  gateway = await startGateway({
    config: {
      channels: ids.map((id) => ({
        id,
        vendor: id,
        baseUrl: `${vendors.url}/${id}${base[id] ?? '/v1'}`,
        key: `key-of-${id}-0123456789`,
        models: [...hears, ...speaks].flatMap(([by, model]) => (by === id ? [model] : [])),
      })),
      models: Object.fromEntries([
        ...kindOf('transcription', { second: '100' })(hears),
        ...kindOf('speech', { character: '10' })(speaks),
      ]),
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await vendors.stop()
})

type Cell = 'works' | 'refused'
const found = new Map<string, Cell>()

/** A refusal must say which field it is about, and cost no vendor's work. */
async function isRefused(reply: Response, askedBefore: number): Promise<boolean> {
  if (reply.status === 200) return false
  const { error } = (await reply.json()) as { error: { param: string; message: string } }
  expect([reply.status, error.param, error.message]).toEqual([
    400,
    expect.stringMatching(/^(response_format|timestamp_granularities)$/),
    expect.stringContaining('not possible'),
  ])
  expect(vendors.asked).toBe(askedBefore)
  return true
}

function transcribe(model: string, fields: Readonly<Record<string, string>>): Promise<Response> {
  const form = new FormData()
  for (const [name, value] of Object.entries({ model, language: 'en', ...fields }))
    form.append(name, value)
  form.append('file', new File([Uint8Array.from(wav(said.seconds))], 'a.wav'))
  return fetch(`${gateway.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: form,
  })
}

interface Timed {
  readonly start: number
  readonly end: number
  readonly text?: string
  readonly word?: string
  readonly speaker?: string
}

const parts = said.parts.map(({ start, end, text }) => [start, end, text])
const ofCues = (cues: readonly ReadCue[]) =>
  cues.map(({ startMs, endMs, text }) => [startMs / 1000, endMs / 1000, text])
const ofParts = (timed: readonly Timed[]) =>
  timed.map(({ start, end, text = '' }) => [start, end, text.trim()])

/** By form: what the client must find. */
const judges: Readonly<Record<Form, (body: string) => void>> = {
  json: (body) => expect(JSON.parse(body).text).toBe(said.text),
  text: (body) => expect(body).toBe(`${said.text}\n`),
  srt: (body) => expect(ofCues(readSrt(body))).toEqual(parts),
  vtt: (body) => expect(ofCues(readVtt(body))).toEqual(parts),
  segments(body) {
    const told = JSON.parse(body) as { text: string; segments: Timed[] }
    expect([told.text, ofParts(told.segments)]).toEqual([said.text, parts])
  },
  words(body) {
    const { words } = JSON.parse(body) as { words: Timed[] }
    const spoken = words.map(({ start, end, word }) => [start, end, word])
    expect(spoken).toEqual(said.words.map(({ start, end, word }) => [start, end, word]))
  },
  speakers(body) {
    const { segments } = JSON.parse(body) as { segments: Timed[] }
    expect(ofParts(segments)).toEqual(parts)
    expect(segments.map(({ speaker }) => speaker)).toEqual(['A', 'B'])
  },
  events(body) {
    const frames = body.split('\n\n').filter((frame) => frame !== '')
    const events = frames.map((frame) => JSON.parse(frame.replace(/^data: /, '')))
    const deltas = events.filter(({ type }) => type === 'transcript.text.delta')
    expect(deltas.map(({ delta }) => delta).join('')).toBe(said.text)
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text: said.text })
  },
}

describe.each(hears)('%s hears with %s', (id, model) => {
  test.each(formNames)('%s', async (form) => {
    const before = vendors.asked
    const reply = await transcribe(model, forms[form])
    const refused = await isRefused(reply, before)
    if (!refused) judges[form](await reply.text())
    found.set(`${id} ${model} ${form}`, refused ? 'refused' : 'works')
  })
})

describe.each(speaks)('%s speaks with %s', (id, model) => {
  test.each(formats)('%s', async (format) => {
    const before = vendors.asked
    const asked =
      format === 'events'
        ? { stream_format: 'sse', response_format: 'pcm' }
        : { response_format: format }
    const reply = await gateway.post('/v1/audio/speech', {
      model,
      input: 'Hi',
      voice: 'v',
      ...asked,
    })
    const refused = await isRefused(reply, before)
    if (!refused) judgeSound(id, format, Buffer.from(await reply.arrayBuffer()), reply)
    found.set(`${id} ${model} ${format}`, refused ? 'refused' : 'works')
  })
})

/** Mistral's samples are numbers of another kind, which become half as many bytes. */
function judgeSound(id: string, format: Format, bytes: Buffer, { headers }: Response): void {
  const expected = id === 'mistral' && (format === 'pcm' || format === 'events') ? null : sound
  if (format === 'events') {
    const frames = bytes.toString('utf8').trim().split('\n\n')
    const events = frames.map((frame) => JSON.parse(frame.replace(/^data: /, '')))
    expect(events.at(-1).type).toBe('speech.audio.done')
    const pieces = events.flatMap(({ audio }) => (audio === undefined ? [] : [audio]))
    const heard = Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64')))
    expect(heard.length).toBe(expected?.length ?? sound.length / 2)
    return
  }
  const types = { mp3: 'mpeg', opus: 'ogg', aac: 'aac', flac: 'flac', wav: 'wav', pcm: 'pcm' }
  expect(headers.get('content-type')).toBe(`audio/${types[format]}`)
  const made = format === 'wav' && (id === 'google' || id === 'elevenlabs')
  const heard = made ? readWav(bytes).data : bytes
  expect(heard.length).toBe(expected?.length ?? sound.length / 2)
  if (expected !== null) expect(heard.equals(expected)).toBe(true)
}

test('docs/conformance-audio.md says what was seen', () => {
  const text = pageText()
  if (writes) writeFileSync(page, text)
  expect(existsSync(page) ? readFileSync(page, 'utf8') : '').toBe(text)
})

function table(rows: readonly (readonly [string, string])[], columns: readonly string[]): string {
  const head = `| vendor | model | ${columns.join(' | ')} |\n|---|---|${columns.map(() => '---|').join('')}`
  const lines = rows.map(([id, model]) => {
    const cells = columns.map((each) => found.get(`${id} ${model} ${each}`) ?? 'not tried')
    return `| \`${id}\` | \`${model}\` | ${cells.join(' | ')} |`
  })
  return `${head}\n${lines.join('\n')}\n`
}

function pageText(): string {
  return `# Conformance of sound

Which form of [sound](audio.md) comes from which vendor. Written by \`test/conformance/audio.test.ts\` against vendors that answer as their documentation says and refuse all else: texts, times, words and speakers are compared with what the vendor said, subtitles and WAV by readers of another make.

\`works\`: as it was said, made here where the vendor has no such form. \`refused\`: 400 that names the field, nothing was sent.

## Transcriptions

${table(hears, formNames)}
## Speech

${table(speaks, formats)}`
}
