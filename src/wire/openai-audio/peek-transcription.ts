// Validates a transcription or translation request and finds its cost (OpenAI API reference, "Create transcription").

import { invalidRequest } from '../../errors.ts'
import type { JsonValue } from '../ir.ts'
import { parseSpan } from '../json/scan.ts'
import { type Body, present } from '../openai/body.ts'
import { type Found, mediaFormat, peekMedia } from '../openai/media.ts'
import { boolean, number, oneOf, type Rule, string, stringOf } from '../openai/rules.ts'
import type { Address, FormFields, Peek } from '../request.ts'
import { soundOf } from './duration.ts'

const shared: readonly (readonly [string, Rule])[] = [
  ['prompt', string],
  ['temperature', number(0, 1)],
  ['stream', boolean],
]

const maxSpeakers = 4

const transcriptionRules: ReadonlyMap<string, Rule> = new Map([
  ...shared,
  ['language', string],
  ['languages', texts()],
  ['keywords', texts()],
  ['response_format', oneOf('json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json')],
  ['include', texts(['logprobs'])],
  ['timestamp_granularities', texts(['word', 'segment'])],
  ['chunking_strategy', chunking],
  ['known_speaker_names', texts(null, maxSpeakers)],
  ['known_speaker_references', texts(null, maxSpeakers)],
])

const translationRules: ReadonlyMap<string, Rule> = new Map([
  ...shared,
  ['response_format', oneOf('json', 'text', 'srt', 'verbose_json', 'vtt')],
])

const transcriptions = mediaFormat(transcriptionRules)
const translations = mediaFormat(translationRules)

export const transcriptionForm: FormFields = {
  file: 'file',
  model: 'text',
  language: 'text',
  languages: 'list',
  keywords: 'list',
  prompt: 'text',
  response_format: 'text',
  temperature: 'number',
  include: 'list',
  timestamp_granularities: 'list',
  stream: 'boolean',
  chunking_strategy: 'json',
  known_speaker_names: 'list',
  known_speaker_references: 'list',
}

export const translationForm: FormFields = {
  file: 'file',
  model: 'text',
  prompt: 'text',
  response_format: 'text',
  temperature: 'number',
  stream: 'boolean',
}

export function peekTranscription(bytes: Uint8Array, address: Address = {}): Peek {
  return peekMedia(bytes, address, transcriptions, (body) => {
    checkTogether(body)
    return sound(address)
  })
}

export function peekTranslation(bytes: Uint8Array, address: Address = {}): Peek {
  return peekMedia(bytes, address, translations, (body) => {
    checkStreamed(body)
    return sound(address)
  })
}

function sound({ files = [] }: Address): Found {
  const [file] = files
  if (file === undefined) throw invalidRequest('file is required', 'file')
  return soundOf(file)
}

/** Checks fields that are valid only together with others. */
function checkTogether(body: Body): void {
  const format = formatOf(body)
  if (present(body, 'timestamp_granularities') !== null && format !== 'verbose_json') {
    throw invalidRequest(
      'timestamp_granularities needs response_format verbose_json',
      'timestamp_granularities',
    )
  }
  if (present(body, 'include') !== null && format !== 'json')
    throw invalidRequest('include needs response_format json', 'include')
  const [names, references] = ['known_speaker_names', 'known_speaker_references'].map((key) =>
    lengthOf(body, key),
  )
  if (names !== references) {
    throw invalidRequest(
      'known_speaker_references must have one reference for each of known_speaker_names',
      'known_speaker_references',
    )
  }
  checkStreamed(body)
}

function checkStreamed(body: Body): void {
  const format = formatOf(body)
  if (present(body, 'stream')?.kind !== 'true' || !/^(srt|vtt|verbose_json)$/.test(format)) return
  throw invalidRequest(`response_format ${format} cannot be streamed`, 'response_format')
}

function formatOf(body: Body): string {
  const member = present(body, 'response_format')
  return member === null ? 'json' : stringOf(body.bytes, member.start, member.end)
}

function lengthOf(body: Body, key: string): number {
  const member = present(body, key)
  if (member === null) return 0
  const value = parseSpan(body.bytes, member.start, member.end) as JsonValue
  return Array.isArray(value) ? value.length : 0
}

/** A list of strings, limited to `words` if given. */
function texts(words: readonly string[] | null = null, most = 100): Rule {
  const complaint =
    words === null
      ? `must be a list of at most ${most} strings`
      : `must be a list of ${words.join(' or ')}`
  return (bytes, start, end, kind) => {
    if (kind !== 'array') return complaint
    const value = parseSpan(bytes, start, end) as JsonValue[]
    const right = value.every(
      (each) => typeof each === 'string' && (words === null || words.includes(each)),
    )
    return right && value.length <= most ? null : complaint
  }
}

/** `auto`, or an object that configures voice detection. */
function chunking(bytes: Uint8Array, start: number, end: number): string | null {
  const value = parseSpan(bytes, start, end) as JsonValue
  if (value === 'auto') return null
  const typed = typeof value === 'object' && value !== null && !Array.isArray(value)
  return typed && value['type'] === 'server_vad'
    ? null
    : 'must be auto or an object of type server_vad'
}
