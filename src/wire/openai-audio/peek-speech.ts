// Validates a speech request on its bytes and finds what it may cost (OpenAI API reference, "Create speech").

import { invalidRequest } from '../../errors.ts'
import type { JsonValue } from '../ir.ts'
import { parseSpan } from '../json/scan.ts'
import { type Body, numberField, present } from '../openai/body.ts'
import { type Found, mediaFormat, peekMedia } from '../openai/media.ts'
import { number, oneOf, type Rule, string, stringOf } from '../openai/rules.ts'
import type { Address, Peek } from '../request.ts'

const formats = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const
const maxInstructionChars = 4_096
/** The most characters OpenAI's models accept; other vendors have limits of their own, all below `maxChars`. */
const maxCharsOfOpenai = 4_096
const maxChars = 100_000
const openaiModels = /^(tts-1|gpt-4o-mini-tts)/

/** Speakers usually say 15 characters per second, slow ones 8, of alphabets. */
const usualCharsPerSecond = 15
const leastCharsPerSecond = 8
/** A character of Chinese, or a syllable of Korean, takes as long as three of these, one of Japanese kana as two. */
const syllables = /[\p{Script=Han}\p{Script=Hangul}]/gu
const kana = /[\p{Script=Hiragana}\p{Script=Katakana}]/gu
/** OpenAI's voices take about 20 tokens per second, Gemini's 25. */
const tokensPerSecond = 25

const rules: ReadonlyMap<string, Rule> = new Map([
  ['input', string],
  ['voice', voice],
  ['instructions', string],
  ['response_format', oneOf(...formats)],
  ['speed', number(0.25, 4)],
  ['stream_format', oneOf('audio', 'sse')],
])

const speech = mediaFormat(rules)

export function peekSpeech(bytes: Uint8Array, address: Address = {}): Peek {
  return peekMedia(bytes, address, speech, find)
}

function find(body: Body): Found {
  const model = textOf(body, 'model') ?? ''
  const { characters, spoken } = lengthsOf(body, model)
  if (present(body, 'voice') === null) throw invalidRequest('voice is required', 'voice')
  const instructions = textOf(body, 'instructions')
  if (instructions !== null && lengthOf(instructions) > maxInstructionChars) {
    throw invalidRequest(
      `instructions must be at most ${maxInstructionChars} characters long`,
      'instructions',
    )
  }
  const stream = textOf(body, 'stream_format') === 'sse'
  if (stream && /^tts-1/.test(model))
    throw invalidRequest(`stream_format sse is not possible with ${model}`, 'stream_format')
  const speed = numberField(body, 'speed') ?? 1
  const most = Math.ceil(spoken / leastCharsPerSecond / speed)
  return {
    stream,
    maxOutputTokens: most * tokensPerSecond,
    units: { character: characters, second: most },
    likelyUnits: {
      character: characters,
      second: Math.ceil(spoken / usualCharsPerSecond / speed),
    },
  }
}

/** `spoken`: as many characters of an alphabet as take as long to say. */
function lengthsOf(body: Body, model: string) {
  const input = textOf(body, 'input')
  if (input === null) throw invalidRequest('input is required', 'input')
  if (input.trim() === '') throw invalidRequest('input must not be empty', 'input')
  const characters = lengthOf(input)
  const most = openaiModels.test(model) ? maxCharsOfOpenai : maxChars
  if (characters > most)
    throw invalidRequest(`input must be at most ${most} characters long`, 'input')
  const spoken = characters + 2 * countOf(input, syllables) + countOf(input, kana)
  return { characters, spoken }
}

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}

/** Counts Unicode code points. */
function lengthOf(text: string): number {
  let count = 0
  for (const _character of text) count++
  return count
}

function textOf(body: Body, key: string): string | null {
  const member = present(body, key)
  return member === null ? null : stringOf(body.bytes, member.start, member.end)
}

/** Accepts the name of a voice, or an object with the id of a custom voice. */
function voice(bytes: Uint8Array, start: number, end: number): string | null {
  const value = parseSpan(bytes, start, end) as JsonValue
  const named = typeof value === 'string' && value !== ''
  const own =
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    typeof value['id'] === 'string' &&
    value['id'] !== ''
  return named || own ? null : 'must be the name of a voice, or an object with its id'
}
