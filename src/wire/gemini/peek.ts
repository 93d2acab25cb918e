// Validates a Gemini request on its bytes and finds what the gateway acts on; model and stream are in the URL.

import { invalidRequest } from '../../errors.ts'
import { type Place, placeOf } from '../json/names.ts'
import { ElementScan, kindAt, type Member, MemberScan, members, textOf } from '../json/scan.ts'
import { type AttachmentOffsets, addAttachment } from '../media/offsets.ts'
import { type Body, type Inside, readBody } from '../openai/body.ts'
import { isStandardTier } from '../openai/priced.ts'
import { numberOf, stringOf } from '../openai/rules.ts'
import type { Address, Peek } from '../request.ts'
import { camelOf, snakeOf } from './fields.ts'

const contentScan = new ElementScan()
const fieldScan = new MemberScan()
const partScan = new ElementScan()
const partFieldScan = new MemberScan()
const mediaScan = new MemberScan()

/** Results of the last check of contents. */
const seen: AttachmentOffsets & {
  /** The path of the first image, or null. */
  imageParam: string | null
} = { imageParam: null, attachments: undefined }

/** Whether the current key is `camel` or `snake`; ProtoJSON allows both. */
function isNamed(scan: MemberScan, camel: string, snake: string): boolean {
  return scan.is(camel) || scan.is(snake)
}

function fail(param: string, complaint: string): never {
  throw invalidRequest(`${param} ${complaint}`, param)
}

/** Checks `inlineData` or `fileData`; true if it is an image. */
function isPicture(bytes: Uint8Array, at: number): boolean {
  if (kindAt(bytes, at) !== 'object') return false
  let picture = false
  mediaScan.open(bytes, at)
  while (mediaScan.next()) {
    if (!isNamed(mediaScan, 'mimeType', 'mime_type')) continue
    const { value } = mediaScan
    picture = textOf(bytes, value, Math.min(value + 7, bytes.length)) === '"image/'
  }
  return picture
}

/** Whether a function response has parts of its own (from Gemini 3 on). */
function hasParts(bytes: Uint8Array, at: number, key: MemberScan): boolean {
  if (!isNamed(key, 'functionResponse', 'function_response')) return false
  if (kindAt(bytes, at) !== 'object') return false
  let parts = false
  mediaScan.open(bytes, at)
  while (mediaScan.next()) parts ||= mediaScan.is('parts')
  return parts
}

/** Checks one part; true if it is an image. */
function checkPart(bytes: Uint8Array, at: number, path: () => string): boolean {
  if (kindAt(bytes, at) !== 'object') fail(path(), 'must be an object')
  let picture = false
  let attached = false
  partFieldScan.open(bytes, at)
  while (partFieldScan.next()) {
    const { value } = partFieldScan
    const kind = kindAt(bytes, value)
    if (partFieldScan.is('text')) {
      if (kind !== 'string' && bytes[value] !== 0x6e) fail(`${path()}.text`, 'must be a string')
      continue
    }
    const inline = isNamed(partFieldScan, 'inlineData', 'inline_data')
    const filed = !inline && isNamed(partFieldScan, 'fileData', 'file_data')
    if ((inline || filed) && isPicture(bytes, value)) picture = true
    attached ||= inline || filed || hasParts(bytes, value, partFieldScan)
  }
  if (attached) addAttachment(seen, at)
  return picture
}

function checkContent(bytes: Uint8Array, at: number, index: number): void {
  const path = `contents[${index}]`
  if (kindAt(bytes, at) !== 'object') fail(path, 'must be an object')
  fieldScan.open(bytes, at)
  while (fieldScan.next()) {
    const { value } = fieldScan
    if (fieldScan.is('role')) {
      const kind = kindAt(bytes, value)
      if (kind !== 'string' && bytes[value] !== 0x6e) fail(`${path}.role`, 'must be a string')
      continue
    }
    if (!fieldScan.is('parts')) continue
    if (bytes[value] === 0x6e) continue
    const kind = kindAt(bytes, value)
    if (kind === 'object') {
      const only = (): string => `${path}.parts`
      if (checkPart(bytes, value, only)) seen.imageParam ??= only()
      fieldScan.resume(partFieldScan.at)
      continue
    }
    if (kind !== 'array') fail(`${path}.parts`, 'must be an array')
    partScan.open(bytes, value)
    while (partScan.next()) {
      const place = partScan.count - 1
      const partPath = (): string => `${path}.parts[${place}]`
      if (checkPart(bytes, partScan.value, partPath)) seen.imageParam ??= partPath()
      partScan.resume(partFieldScan.at)
    }
    fieldScan.resume(partScan.at)
  }
}

function forgetSeen(): void {
  seen.imageParam = null
  seen.attachments = undefined
}

/** Checks the turns at `at`; gives the offset after them. */
function checkContents(bytes: Uint8Array, at: number): number {
  forgetSeen()
  contentScan.open(bytes, at)
  while (contentScan.next()) {
    checkContent(bytes, contentScan.value, contentScan.count - 1)
    contentScan.resume(fieldScan.at)
  }
  if (contentScan.count === 0) fail('contents', 'must not be empty')
  return contentScan.at
}

function member(list: readonly Member[], camel: string, snake: string): Member | null {
  const found = list.find(({ key }) => key === camel || key === snake)
  return found === undefined || found.kind === 'null' ? null : found
}

/** The same limit as in other formats: the hold covers each candidate, and vendors make few. */
const mostCandidates = 128

/** A whole number of at least 1, as a number or as the string that ProtoJSON allows. */
function wholeNumber(
  bytes: Uint8Array,
  found: Member | null,
  param: string,
  most = Number.MAX_VALUE,
): number | null {
  if (found === null) return null
  const { start, end, kind } = found
  const value =
    kind === 'number'
      ? numberOf(bytes, start, end)
      : kind === 'string'
        ? Number(stringOf(bytes, start, end))
        : Number.NaN
  if (!Number.isInteger(value) || value < 1) fail(param, 'must be an integer of at least 1')
  if (value > most) fail(param, `must be at most ${most}`)
  return value
}

/** A model in the body must be the one in the URL: a vendor might read either. */
function checkModel({ bytes, members: list }: Body, model: string): void {
  const found = member(list, 'model', 'model')
  if (found === null) return
  const said = found.kind === 'string' ? stringOf(bytes, found.start, found.end) : ''
  if (said.split('/').at(-1) !== model.split('/').at(-1))
    fail('model', 'must be the model in the URL')
}

function read(body: Body, address: Address): Peek {
  const { bytes, keys } = body
  const { model, stream = false } = address
  if (model === undefined || model === '') {
    throw invalidRequest('the URL must name a model', 'model')
  }
  checkModel(body, model)
  const contents = member(body.members, 'contents', 'contents')
  if (contents === null) fail('contents', 'is required')
  if (contents.kind === 'object') {
    // A list is checked during the pass over the body.
    forgetSeen()
    checkContent(bytes, contents.start, 0)
    if (member(members(bytes, contents.start), 'parts', 'parts') === null)
      fail('contents', 'must be an array, or have parts')
  } else if (contents.kind !== 'array') fail('contents', 'must be an array')
  const config = member(body.members, 'generationConfig', 'generation_config')
  if (config !== null && config.kind !== 'object') fail('generationConfig', 'must be an object')
  const settings = config === null ? [] : members(bytes, config.start)
  const limit = member(settings, 'maxOutputTokens', 'max_output_tokens')
  const choices = member(settings, 'candidateCount', 'candidate_count')
  const detail = member(settings, 'mediaResolution', 'media_resolution')
  const tier = member(body.members, 'serviceTier', 'service_tier')
  if (tier !== null && !isStandardTier(bytes, tier)) body.unwanted = tier.key
  return {
    body: bytes,
    model,
    modelSpan: null,
    stream,
    // Every frame reports usage so far.
    wantsUsage: true,
    streamOptionsSpan: null,
    bodyEnd: body.end,
    maxOutputTokens: wholeNumber(bytes, limit, 'generationConfig.maxOutputTokens'),
    choices: wholeNumber(bytes, choices, 'generationConfig.candidateCount', mostCandidates) ?? 1,
    dropped: body.dropped,
    imageParam: seen.imageParam,
    attachments: seen.attachments,
    attachmentDetail: detail?.kind === 'string' ? stringOf(bytes, detail.start, detail.end) : null,
    keys,
    encodingFormat: 'float',
    tokenInput: false,
  }
}

/** Known names of an object whose members bound or price a reply, or hold the prompt; others are the client's own. */
function named(names: readonly string[], within: Readonly<Record<string, Place>> = {}): Place {
  const places = Object.entries(within).flatMap(([name, place]) =>
    [name, snakeOf(name)].map((each) => [each, place] as const),
  )
  const spelled = names.flatMap((name) => [name, snakeOf(name)])
  return placeOf(spelled, Object.fromEntries(places), camelOf)
}

const media = named(['mimeType', 'data', 'fileUri', 'displayName'])
const part = named(['text', 'thought', 'thoughtSignature', 'functionCall', 'functionResponse'], {
  inlineData: media,
  fileData: media,
  mediaResolution: named(['level']),
  videoMetadata: named(['startOffset', 'endOffset', 'fps']),
})
const content = named(['role'], { parts: part })
const generation = named(
  [
    'maxOutputTokens',
    'candidateCount',
    'temperature',
    'topP',
    'topK',
    'stopSequences',
    'seed',
    'presencePenalty',
    'frequencyPenalty',
    'responseLogprobs',
    'logprobs',
    'responseModalities',
    'responseMimeType',
    'responseSchema',
    'responseJsonSchema',
    'mediaResolution',
    'speechConfig',
  ],
  {
    thinkingConfig: named(['thinkingBudget', 'thinkingLevel', 'includeThoughts']),
    imageConfig: named(['imageSize', 'aspectRatio']),
  },
)

const inside: Inside = {
  key: 'contents',
  visit: checkContents,
  names: named(
    ['model', 'stream', 'tools', 'toolConfig', 'safetySettings', 'cachedContent', 'serviceTier'],
    { contents: content, systemInstruction: content, generationConfig: generation },
  ),
}

/** Throws GatewayError `invalid_request_error` naming the field at fault. */
export function peekGemini(body: Uint8Array, address: Address = {}): Peek {
  return readBody(body, inside, (found) => read(found, address))
}
