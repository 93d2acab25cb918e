// Asks vendors with OpenAI's path for transcripts in a format they have, and reads the parts of all formats from it.

import { invalidRequest } from '../errors.ts'
import type { JsonObject, JsonValue } from '../wire/ir.ts'
import { isObject, setMember } from '../wire/json/value.ts'
import { droppedFields, listField, refuseWords, soundOf, unreadable } from './audio-fields.ts'
import {
  checkSuccess,
  type MediaCall,
  type MediaTools,
  type MediaUsage,
  type SpokenPart,
  type TranscriptReply,
  type Word,
} from './media.ts'
import { multipart } from './multipart.ts'

/** What a vendor supports of OpenAI's operation. */
export interface Transcribes {
  /** The values of `response_format` for a model; null: unknown, so the request is relayed. */
  formats(model: string): readonly string[] | null
  streams(model: string): boolean
  /** Fields it accepts besides the file and the model; null: all. */
  readonly takes: ReadonlySet<string> | null
  /** Fields that request timestamps or speakers from a vendor without `response_format`. */
  further?(wanted: Wanted, fields: JsonObject): JsonObject
  /** Corrects what the vendor reports in another way than OpenAI. */
  read?(reply: TranscriptReply, wanted: Wanted): TranscriptReply
  /** Converts the vendor's usage to OpenAI's form. */
  usage?(usage: JsonObject): MediaUsage
}

export interface Wanted {
  readonly times: boolean
  readonly words: boolean
  readonly speakers: boolean
}

const timed: ReadonlySet<string> = new Set(['srt', 'vtt', 'verbose_json', 'diarized_json'])
/** Fields that the gateway sets itself. */
const own: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'response_format',
  'timestamp_granularities',
])

interface TranscriptCall {
  readonly call: MediaCall
  readonly format: string
}

/** `format`: the format that the client asked for. */
export async function askTranscript(
  vendor: Transcribes,
  { call, format }: TranscriptCall,
  tools: MediaTools,
): Promise<TranscriptReply> {
  const { segments: body, contentType } = formFor(vendor, call, format)
  const url = tools.addressOf(call.dialect, call.model)
  const reply = await tools.ask({ method: 'POST', url, body, contentType, signed: true })
  checkSuccess(reply, tools)
  const { takes } = vendor
  const dropped = takes === null ? [] : droppedFields(call, [...takes])
  const transcript = transcriptIn(reply.json(), vendor)
  const wanted = wantedBy(call, format)
  return { ...(vendor.read?.(transcript, wanted) ?? transcript), dropped }
}

function formFor(vendor: Transcribes, call: MediaCall, format: string) {
  const { fields, model } = call
  const asked: JsonObject = { model }
  for (const [name, value] of Object.entries(fields))
    if (!own.has(name) && vendor.takes?.has(name) !== false) setMember(asked, name, value)
  const form = formToAsk(vendor, call, format)
  const wanted = wantedBy(call, format)
  if (form === 'verbose_json') asked['timestamp_granularities'] = granularities(wanted)
  if (form === 'diarized_json') asked['chunking_strategy'] ??= 'auto'
  if (form !== null && vendor.takes?.has('response_format') !== false)
    asked['response_format'] = form
  Object.assign(asked, vendor.further?.(wanted, fields))
  const upload = soundOf(call)
  return multipart(Object.entries(asked).flatMap(pairs), [{ ...upload, field: 'file' }])
}

function wantedBy({ fields }: MediaCall, format: string): Wanted {
  return {
    times: timed.has(format),
    words: listField(fields, 'timestamp_granularities').includes('word'),
    speakers: format === 'diarized_json',
  }
}

function granularities({ words }: Wanted): string[] {
  return words ? ['word', 'segment'] : ['segment']
}

/** A format with everything that the requested one needs; null where the vendor has no formats. */
function formToAsk({ formats }: Transcribes, call: MediaCall, format: string): string | null {
  const { model } = call
  const known = formats(model) ?? []
  if (known.length === 0) return null
  if (!timed.has(format)) return 'json'
  const fits = format === 'diarized_json' ? ['diarized_json'] : ['verbose_json', 'diarized_json']
  const found = fits.find((each) => known.includes(each))
  if (found !== undefined) {
    if (found !== 'verbose_json') refuseWords(call)
    return found
  }
  throw invalidRequest(
    `response_format ${format} is not possible with ${model}, which returns no ${format === 'diarized_json' ? 'speakers' : 'timestamps'}; use json or text`,
    'response_format',
  )
}

function pairs([name, value]: readonly [string, JsonValue | undefined]): [string, string][] {
  if (value === null || value === undefined) return []
  if (Array.isArray(value)) return value.map((each) => [`${name}[]`, textOf(each)])
  return [[name, textOf(value)]]
}

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function transcriptIn(body: JsonValue, { usage }: Pick<Transcribes, 'usage'>): TranscriptReply {
  if (!isObject(body) || typeof body.text !== 'string') throw unreadable('the reply has no text')
  const { text, language, duration, segments, words } = body
  const counted = isObject(body.usage) ? body.usage : null
  return {
    kind: 'transcript',
    text,
    language: typeof language === 'string' ? language : null,
    seconds: typeof duration === 'number' && duration > 0 ? duration : null,
    segments: Array.isArray(segments) ? segments.flatMap(partOf) : null,
    words: Array.isArray(words) ? words.flatMap(wordOf) : null,
    usage: counted === null ? null : (usage?.(counted) ?? counted),
  }
}

function partOf(value: JsonValue): SpokenPart[] {
  if (!isObject(value)) return []
  const { start, end, text, speaker, speaker_id } = value
  if (typeof start !== 'number' || typeof end !== 'number' || typeof text !== 'string') return []
  const who = speaker ?? speaker_id
  return [{ start, end, text, ...(typeof who === 'string' && { speaker: who }) }]
}

function wordOf(value: JsonValue): Word[] {
  if (!isObject(value)) return []
  const { start, end, word, text } = value
  const said = word ?? text
  if (typeof start !== 'number' || typeof end !== 'number' || typeof said !== 'string') return []
  return [{ start, end, word: said }]
}
