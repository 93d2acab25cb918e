// Validates image requests on their bytes, and finds what they may cost (OpenAI API reference, "Images").

import { invalidRequest } from '../../errors.ts'
import { elements, kindAt, type Member, members } from '../json/scan.ts'
import { type Body, numberField, present } from '../openai/body.ts'
import type { Found } from '../openai/media.ts'
import { boolean, integer, oneOf, type Rule, string, stringOf } from '../openai/rules.ts'
import type { Address, FileInfo, RequestedImages } from '../request.ts'
import { outputTokensOf, unitsOf } from './cost.ts'

const maxCount = 10
const maxPartials = 3
/** The most input images of one request, without the mask. */
const maxInputs = 16
/** The most tokens of one input image. */
const inputImageTokens = 8_192
/** Tokens of an input image where the client asks for low fidelity. */
const roughImageTokens = 1_024
const bytesPerToken = 3

/** Other vendors' names of `n`, which are refused, so that a single count is read, held for and sent. */
const otherCounts = [
  'num_images',
  'num_outputs',
  'number_of_images',
  'numberOfImages',
  'batch_size',
]
const notOffered: Rule = () => 'is not supported; use n'

const shared: readonly (readonly [string, Rule])[] = [
  ...otherCounts.map((name) => [name, notOffered] as const),
  ['prompt', string],
  ['n', integer(1, maxCount)],
  ['size', string],
  ['response_format', oneOf('url', 'b64_json')],
  ['user', string],
]

const drawn: readonly (readonly [string, Rule])[] = [
  ...shared,
  ['quality', string],
  ['background', oneOf('transparent', 'opaque', 'auto')],
  ['output_format', oneOf('png', 'jpeg', 'webp', 'gif', 'svg')],
  ['output_compression', integer(0, 100)],
  ['moderation', oneOf('low', 'auto')],
  ['stream', boolean],
  ['partial_images', integer(0, maxPartials)],
  ['safety_identifier', string],
]

export const generationRules: ReadonlyMap<string, Rule> = new Map([
  ...drawn,
  ['style', oneOf('vivid', 'natural')],
])
export const editRules: ReadonlyMap<string, Rule> = new Map([
  ...drawn,
  ['input_fidelity', oneOf('high', 'low')],
])
export const variationRules: ReadonlyMap<string, Rule> = new Map(shared)

export function findGeneration(body: Body): Found {
  return found(body, requiredPrompt(body), 0)
}

/** The images are files of a form, or URLs in `images`. */
export function findEdit(body: Body, { files }: Address): Found {
  const prompt = requiredPrompt(body)
  const inputs = files === undefined ? namedImages(body) : givenFiles(files)
  return found(body, prompt, inputs)
}

export function findVariation(body: Body, { files = [] }: Address): Found {
  const inputs = givenFiles(files)
  if (files.filter(({ field }) => field === 'image').length > 1)
    throw invalidRequest('image must be one file', 'image')
  return found(body, null, inputs)
}

function found(body: Body, prompt: Member | null, inputs: number): Found {
  const streams = present(body, 'stream')?.kind === 'true'
  const picture: RequestedImages = {
    size: wordOf(body, 'size'),
    quality: wordOf(body, 'quality'),
    count: numberField(body, 'n') ?? 1,
    partials: streams ? (numberField(body, 'partial_images') ?? 0) : 0,
    inputs,
  }
  const promptBytes = prompt === null ? 0 : prompt.end - prompt.start
  const rough = wordOf(body, 'input_fidelity') === 'low'
  const inputTokens =
    Math.ceil(promptBytes / bytesPerToken) + inputs * (rough ? roughImageTokens : inputImageTokens)
  return {
    picture,
    choices: picture.count,
    inputTokens,
    maxOutputTokens: outputTokensOf(picture),
    units: unitsOf(picture, picture.count),
  }
}

function requiredPrompt(body: Body): Member {
  const prompt = present(body, 'prompt')
  if (prompt === null) throw invalidRequest('prompt is required', 'prompt')
  // The span is two quotes: the text is empty.
  if (prompt.kind === 'string' && prompt.end - prompt.start <= 2)
    throw invalidRequest('prompt must not be empty', 'prompt')
  return prompt
}

function wordOf(body: Body, name: string): string | null {
  const member = present(body, name)
  if (member === null) return null
  return stringOf(body.bytes, member.start, member.end)
}

function givenFiles(files: readonly FileInfo[]): number {
  const images = files.filter(({ field }) => field === 'image')
  if (images.length === 0) throw invalidRequest('image is required: a file of the form', 'image')
  if (images.length > maxInputs)
    throw invalidRequest(`image must be at most ${maxInputs} files`, 'image')
  const other = files.find(({ type }) => !type.startsWith('image/'))
  if (other !== undefined) {
    const { field, type } = other
    throw invalidRequest(`${field} must be an image (PNG, JPEG or WebP), not ${type}`, field)
  }
  return files.length
}

/** Counts `images: [{ image_url }]` and a `mask` of the same form. */
function namedImages(body: Body): number {
  const images = present(body, 'images')
  if (images === null)
    throw invalidRequest('images is required: a list of objects with `image_url`', 'images')
  if (images.kind !== 'array') throw invalidRequest('images must be an array', 'images')
  let count = 0
  const { bytes } = body
  for (const { start } of elements(bytes, images.start)) {
    checkImage(bytes, start, `images[${count}]`)
    count++
  }
  if (count < 1 || count > maxInputs)
    throw invalidRequest(`images must hold 1 to ${maxInputs} images`, 'images')
  const mask = present(body, 'mask')
  if (mask === null) return count
  checkImage(bytes, mask.start, 'mask')
  return count + 1
}

function checkImage(bytes: Uint8Array, start: number, param: string): void {
  if (kindAt(bytes, start) !== 'object')
    throw invalidRequest(`${param} must be an object with \`image_url\``, param)
  const inside = members(bytes, start)
  const url = inside.find(({ key }) => key === 'image_url')
  if (url === undefined || url.kind === 'null') {
    const files = inside.some(({ key }) => key === 'file_id')
    const why = files
      ? 'file_id is not offered; send the image as image_url'
      : 'image_url is required'
    throw invalidRequest(`${param}: ${why}`, `${param}.${files ? 'file_id' : 'image_url'}`)
  }
  const named = `${param}.image_url`
  if (url.kind !== 'string') throw invalidRequest(`${named} must be a string`, named)
  const beginning = new TextDecoder().decode(bytes.subarray(url.start + 1, url.start + 12))
  if (!/^(https?:\/\/|data:image\/)/i.test(beginning))
    throw invalidRequest(`${named} must be an http(s) or data:image address`, named)
}
