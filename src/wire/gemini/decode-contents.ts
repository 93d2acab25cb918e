// Decodes turns of a Gemini request into messages; each answer becomes a message with the id of its call.

import { invalidRequest } from '../../errors.ts'
import type { Extra, JsonObject, JsonValue, Message, RequestPart } from '../ir.ts'
import { isObject, setMember, stringOf } from '../json/value.ts'
import { membersOf, repeated, withExtra } from './fields.ts'
import { audioFormatOf } from './media.ts'
import { noSignature } from './models.ts'
import { GeminiCalls } from './open-calls.ts'

export function decodeContents(value: JsonValue | undefined): Message[] {
  const calls = new GeminiCalls()
  return repeated(value).flatMap((content, at) => decodeContent(content, `contents[${at}]`, calls))
}

function decodeContent(value: JsonValue, path: string, calls: GeminiCalls): Message[] {
  if (!isObject(value)) throw invalidRequest(`${path} must be an object`, path)
  const { role = 'user', parts } = membersOf(value)
  const spoken = role === 'model' ? 'assistant' : 'user'
  calls.begin(role === 'model')
  const messages: Message[] = []
  let run: RequestPart[] = []
  const flush = (): void => {
    if (run.length > 0) messages.push({ role: spoken, parts: run })
    run = []
  }
  for (const [at, raw] of repeated(parts).entries()) {
    const place = `${path}.parts[${at}]`
    if (!isObject(raw)) throw invalidRequest(`${place} must be an object`, place)
    const part = membersOf(raw)
    const answer = part['functionResponse']
    if (isObject(answer)) {
      flush()
      messages.push(answerOf(membersOf(answer), place, calls))
    } else run.push(decodePart(part, place, calls))
  }
  flush()
  return messages
}

function textsOf(value: JsonValue | undefined): RequestPart[] {
  if (typeof value === 'string') return value === '' ? [] : [{ type: 'text', text: value }]
  const parts = isObject(value) ? membersOf(value)['parts'] : value
  return repeated(parts)
    .filter(isObject)
    .flatMap((raw, at): RequestPart[] => {
      const part = membersOf(raw)
      const { text = '', ...rest } = part
      const other = Object.keys(rest).some((name) => !ofThoughts.has(name))
      if (typeof text !== 'string' || (part['text'] === undefined && other)) {
        const place = `systemInstruction.parts[${at}]`
        throw invalidRequest(`${place}: only text can be an instruction of this model`, place)
      }
      return text === '' ? [] : [{ type: 'text', text, ...besides(part, 'text', ...ofThoughts) }]
    })
}

const ofThoughts: ReadonlySet<string> = new Set(['thought', 'thoughtSignature'])

/** Decodes `systemInstruction`: a content of texts, or a plain text. Throws GatewayError for other content. */
export function decodeSystem(value: JsonValue | undefined): Message[] {
  const parts = textsOf(value)
  return parts.length === 0 ? [] : [{ role: 'system', parts }]
}

function opaqueOf(part: JsonObject): { sealed?: string } {
  const sealed = stringOf(part['thoughtSignature'])
  // The placeholder for a missing signature is dropped; the encoder writes it again.
  return sealed === '' || sealed === noSignature ? {} : { sealed }
}

/** Members of a part beside its content, such as `videoMetadata`. */
function besides(part: JsonObject, ...read: readonly string[]): { extra?: Extra } {
  const rest: JsonObject = {}
  for (const name in part) if (!read.includes(name)) setMember(rest, name, part[name])
  return withExtra(rest)
}

function decodePart(part: JsonObject, path: string, calls: GeminiCalls): RequestPart {
  const { text, inlineData, fileData, functionCall, thought } = part
  const sealed = opaqueOf(part)
  if (thought === true && typeof (text ?? '') === 'string' && isPlain(part)) {
    const redacted = text === undefined && { redacted: true as const }
    return { type: 'reasoning', text: stringOf(text), ...sealed, ...redacted }
  }
  if (typeof text === 'string') {
    const extra = besides(part, 'text', ...ofThoughts)
    return { type: 'text', text, ...sealed, ...extra }
  }
  if (isObject(functionCall)) return callOf(membersOf(functionCall), part, path, calls)
  // A signature on media is useful to this format alone.
  if (isObject(inlineData)) {
    return mediaOf(membersOf(inlineData), path, besides(part, 'inlineData'))
  }
  if (isObject(fileData)) {
    return fileOf(membersOf(fileData), path, besides(part, 'fileData'))
  }
  return { type: 'other', extra: { gemini: { part } } }
}

/** Whether the part is only a thought's text and signature. */
function isPlain(part: JsonObject): boolean {
  return Object.keys(part).every((name) => /^(thought|thoughtSignature|text)$/.test(name))
}

function callOf(call: JsonObject, part: JsonObject, path: string, calls: GeminiCalls): RequestPart {
  const name = stringOf(call['name'])
  if (name === '') {
    const param = `${path}.functionCall.name`
    throw invalidRequest(`${param} must be a string`, param)
  }
  const id = calls.open(stringOf(call['id']), name)
  return {
    type: 'tool-call',
    id,
    name,
    arguments: JSON.stringify(call['args'] ?? {}),
    ...opaqueOf(part),
    ...besides(part, 'functionCall', ...ofThoughts),
  }
}

function answerOf(answer: JsonObject, path: string, calls: GeminiCalls): Message {
  const { response, parts } = answer
  const media = repeated(parts).filter(isObject)
  const said = saidOf(response)
  const rest = besides(answer, 'id', 'name', 'response', 'parts', 'willContinue')
  const { gemini = {} } = rest.extra ?? {}
  return {
    role: 'tool',
    callId: calls.answered(stringOf(answer['id']), stringOf(answer['name'])),
    parts: [
      ...(said.text === '' ? [] : [{ type: 'text', text: said.text } as const]),
      ...media.map((part, at) => decodePart(membersOf(part), `${path}.parts[${at}]`, calls)),
    ],
    ...(said.failed && { isError: true }),
    // The original response, for vendors of this format; the name, for an answer whose call is missing.
    ...withExtra({ ...gemini, name: stringOf(answer['name']), response: response ?? {} }),
  }
}

/** A text wrapped in `output`, `result` or `error` alone is unwrapped (API reference, `FunctionResponse`). */
function saidOf(response: JsonValue | undefined): { text: string; failed: boolean } {
  if (typeof response === 'string') return { text: response, failed: false }
  if (!isObject(response)) return { text: JSON.stringify(response ?? {}), failed: false }
  const [only, ...more] = Object.keys(response)
  const value = only === undefined ? undefined : response[only]
  const wraps = more.length === 0 && typeof value === 'string'
  if (wraps && (only === 'output' || only === 'result')) return { text: value, failed: false }
  if (wraps && only === 'error') return { text: value, failed: true }
  return { text: JSON.stringify(response), failed: false }
}

function mediaOf(blob: JsonObject, path: string, extra: { extra?: Extra }): RequestPart {
  const mediaType = stringOf(blob['mimeType'])
  const data = stringOf(blob['data'])
  if (mediaType === '') {
    const param = `${path}.inlineData.mimeType`
    throw invalidRequest(`${param} must be a string`, param)
  }
  const url = `data:${mediaType};base64,${data}`
  if (mediaType.startsWith('image/')) return { type: 'image', url, ...extra }
  if (mediaType.startsWith('audio/')) {
    return { type: 'audio', format: audioFormatOf(mediaType), data, ...extra }
  }
  const name = stringOf(blob['displayName'])
  return { type: 'file', url, ...(name !== '' && { name }), ...extra }
}

/** Files stored with Google, which other vendors cannot read. */
const googles = /^(gs:|https:\/\/generativelanguage\.googleapis\.com\/|files\/)/i

function fileOf(file: JsonObject, path: string, extra: { extra?: Extra }): RequestPart {
  const uri = stringOf(file['fileUri'])
  if (uri === '') {
    const param = `${path}.fileData.fileUri`
    throw invalidRequest(`${param} must be a string`, param)
  }
  const mediaType = stringOf(file['mimeType'])
  const { gemini = {} } = extra.extra ?? {}
  const kept = withExtra({ ...gemini, ...(mediaType !== '' && { mimeType: mediaType }) })
  const where = googles.test(uri) ? { url: '', vendorFile: uri } : { url: uri }
  if (mediaType.startsWith('image/')) return { type: 'image', ...where, ...kept }
  const name = stringOf(file['displayName'])
  return { type: 'file', ...where, ...(name !== '' && { name }), ...kept }
}
