// The sandbox's moderation model: flags texts that contain one of a few words.

import { invalidRequest } from '../../errors.ts'
import type { JsonObject, JsonValue } from '../../wire/ir.ts'
import { isObject } from '../../wire/json/value.ts'
import { identifier } from '../hash.ts'
import { type Reply, whole } from './reply.ts'
import type { SandboxSettings } from './settings.ts'

/** OpenAI's categories, each with the words that the sandbox flags for it. */
const categories: Readonly<Record<string, readonly string[]>> = {
  harassment: ['idiot'],
  'harassment/threatening': [],
  sexual: ['nude'],
  hate: ['hate'],
  'hate/threatening': [],
  illicit: ['drugs'],
  'illicit/violent': [],
  'self-harm/intent': [],
  'self-harm/instructions': [],
  'self-harm': ['suicide'],
  'sexual/minors': [],
  violence: ['kill', 'murder'],
  'violence/graphic': ['gore'],
}

const found = 0.99
const notFound = 0.01

/**
 * A result for each text of a list; parts are judged together. Throws `invalid_request_error` where there is no input.
 */
export function moderationReply(body: JsonObject, model: string, settings: SandboxSettings): Reply {
  const texts = textsOf(body['input'])
  const id = `modr-sandbox-${identifier(texts.join('\n'))}`
  return whole({ id, model, results: texts.map(judged) }, settings.gapMs)
}

function textsOf(input: JsonValue | undefined): readonly string[] {
  if (typeof input === 'string') return [input]
  if (!Array.isArray(input) || input.length === 0)
    throw invalidRequest("'input' must be a text, a list of texts or a list of parts", 'input')
  const texts = input.filter((each) => typeof each === 'string')
  if (texts.length === input.length) return texts
  const parts = input.map((part) => (isObject(part) ? part['text'] : null))
  return [parts.filter((text) => typeof text === 'string').join(' ')]
}

function judged(text: string): JsonObject {
  const words = new Set(text.toLowerCase().match(/\p{L}+/gu) ?? [])
  const flags = Object.entries(categories).map(
    ([name, listed]) => [name, listed.some((word) => words.has(word))] as const,
  )
  const scores = flags.map(([name, flagged]) => [name, flagged ? found : notFound] as const)
  return {
    flagged: flags.some(([, flagged]) => flagged),
    categories: Object.fromEntries(flags),
    category_scores: Object.fromEntries(scores),
    category_applied_input_types: Object.fromEntries(flags.map(([name]) => [name, ['text']])),
  }
}
