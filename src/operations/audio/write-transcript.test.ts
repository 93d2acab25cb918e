// Tests transcripts in every format, and those that a format cannot express.

import { expect, test } from 'bun:test'
import type { MediaCall, TranscriptReply } from '../../vendors/media.ts'
import type { JsonObject } from '../../wire/ir.ts'
import { writeTranscript } from './write-transcript.ts'

const reply: TranscriptReply = {
  kind: 'transcript',
  text: 'One two.',
  language: 'pt-BR',
  seconds: 1.2,
  segments: null,
  words: [
    { start: 0, end: 0.5, word: 'One' },
    { start: 0.5, end: 1, word: 'two.' },
  ],
  usage: null,
}

async function written(fields: JsonObject, more: Partial<TranscriptReply> = {}, stream = false) {
  const call: MediaCall = {
    dialect: 'openai-transcriptions',
    model: 'm',
    fields,
    uploads: [],
    stream,
  }
  const { type, chunks, usage } = writeTranscript({ ...reply, ...more }, call)
  let text = ''
  for await (const chunk of chunks) text += new TextDecoder().decode(chunk)
  return { type, text, usage: usage?.() ?? null }
}

test('usage is the length in whole seconds, beside what has no place for it', async () => {
  const { type, text, usage } = await written({ response_format: 'srt' })
  expect([type, usage]).toEqual(['text/plain; charset=utf-8', { type: 'duration', seconds: 2 }])
  expect(text).toBe('1\n00:00:00,000 --> 00:00:01,000\nOne two.\n\n')
  expect((await written({}, { seconds: null })).usage).toBeNull()
})

test('words of a script without spaces are put together without', async () => {
  const words = [
    { start: 0, end: 1, word: '你好' },
    { start: 1, end: 2, word: '世界' },
  ]
  const { type, text } = await written({ response_format: 'vtt' }, { text: '你好世界', words })
  expect(type).toBe('text/plain; charset=utf-8')
  expect(text).toBe('WEBVTT\n\n00:00:00.000 --> 00:00:02.000\n你好世界\n\n')
})

test('languages are called as OpenAI calls them', async () => {
  const language = async (code: string | null) =>
    JSON.parse((await written({ response_format: 'verbose_json' }, { language: code })).text)
      .language
  expect(await Promise.all(['pt-BR', 'deu', 'Welsh', 'qqq', null].map(language))).toEqual([
    'portuguese',
    'german',
    'Welsh',
    'qqq',
    '',
  ])
})

test('many speakers have letters in the order in which they speak', async () => {
  const segments = Array.from({ length: 28 }, (_, at) => ({
    start: at,
    end: at + 1,
    text: 'x',
    speaker: `who-${28 - at}`,
  }))
  const { text } = await written({ response_format: 'diarized_json' }, { segments })
  const body = JSON.parse(text) as { segments: { speaker: string }[] }
  expect(body.segments.map(({ speaker }) => speaker).slice(-4)).toEqual(['Y', 'Z', 'AA', 'AB'])
})

test('what the vendor did not tell is refused by name; silence is no reason', async () => {
  const plain = { words: null }
  for (const response_format of ['srt', 'vtt', 'verbose_json', 'diarized_json'])
    await expect(written({ response_format }, plain)).rejects.toThrow('not possible')
  const speechless = { response_format: 'diarized_json' }
  await expect(written(speechless)).rejects.toThrow('does not identify speakers')
  const silence = await written({ response_format: 'vtt' }, { ...plain, text: ' ' })
  expect(silence.text).toBe('WEBVTT\n\n')
})

test('events of what was heard whole', async () => {
  const { type, text } = await written({}, {}, true)
  expect(type).toBe('text/event-stream')
  expect(text.split('\n\n').filter((frame) => frame !== '')).toHaveLength(2)
})
