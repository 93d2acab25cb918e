// How much to hold for a request before its work, and how much more while it streams.

import type { ModelKind } from '../config/types.ts'
import { maxNano, type Nano } from '../money.ts'
import type { Peek } from '../wire/request.ts'
import type { Expected, Rate, Units } from './meter.ts'
import type { PromptMedia } from './prompt-size.ts'

/** About four bytes of text make a token, where no vendor counted. */
export const bytesPerToken = 4

/** Nobody believes a reply of more tokens than this (see the reader of usage), so nothing more is held for one. */
const maxTokens = 1_000_000_000

/** What a whole reply is taken to come to where neither the client nor the catalogue bounds it. */
const unboundedReplyTokens = 4_096

/** A stream extends its hold by this much at a time. */
const quantumTokens = 256

/** After this many bytes of output a stream looks again whether its hold covers what comes next. */
export const quantumBytes = quantumTokens * bytesPerToken

const withoutOutput: ReadonlySet<ModelKind> = new Set(['embedding', 'rerank', 'moderation'])

const decoder = new TextDecoder()

/** What bounds a request, of the request itself and of its model. */
export interface Bounds {
  readonly kind: ModelKind
  readonly peek: Pick<
    Peek,
    | 'body'
    | 'stream'
    | 'maxOutputTokens'
    | 'leastOutputTokens'
    | 'choices'
    | 'tokenInput'
    | 'inputTokens'
    | 'audioTokens'
  >
  /** Tokens; null where the catalogue does not know. */
  readonly model: { readonly context: number | null; readonly maxOutput: number | null }
  /** What streams of this key and model usually stay below, in tokens. */
  readonly usualOutputTokens: number
  /** What stands in the prompt beside its text; null where nothing does. */
  readonly media: PromptMedia | null
  /** Counts a token for every byte of the prompt: for a balance that an estimate could overdraw. */
  readonly safe: boolean
  readonly units: Units | null
}

/**
 * A request's size, bounded by what is known before the work. A stream is expected to stay within what is usual: it
 * extends its hold as it flows. A whole reply is expected to be as long as it may.
 */
export function expectedOf(bounds: Bounds): Expected {
  const { kind, peek, model, units } = bounds
  const context = model.context ?? maxTokens
  const inputTokens = Math.min(promptTokens(bounds), context)
  if (withoutOutput.has(kind)) return { kind, inputTokens, outputTokens: 0, units }
  const limit = Math.min(peek.maxOutputTokens ?? maxTokens, model.maxOutput ?? maxTokens, context)
  const known = peek.maxOutputTokens !== null || model.maxOutput !== null
  // A stream of images cannot extend its hold by what has come: most of it comes at once.
  const growing = peek.stream && kind !== 'image'
  const reply = growing
    ? Math.min(limit, bounds.usualOutputTokens)
    : Math.min(limit, known ? maxTokens : unboundedReplyTokens)
  const least = Math.min(peek.leastOutputTokens ?? 0, model.maxOutput ?? maxTokens, context)
  const each = growing ? reply : Math.max(reply, least)
  const outputTokens = Math.min(each * Math.max(1, peek.choices), Number.MAX_SAFE_INTEGER)
  const audioTokens = (peek.audioTokens?.most ?? 0) + (bounds.media?.most.audio ?? 0)
  const expected = { kind, inputTokens, outputTokens, units }
  return audioTokens > 0 ? { ...expected, audioTokens } : expected
}

/** Every token of text has a byte, and hardly any text has less than three for one; a token id has a comma. */
function promptTokens({ peek, media, safe }: Bounds): number {
  if (peek.inputTokens !== undefined) return peek.inputTokens
  const bytesEach = safe ? 1 : peek.tokenInput ? 2 : 3
  if (media === null) return Math.ceil(peek.body.length / bytesEach)
  return Math.ceil(media.textBytes / bytesEach) + media.most.image + media.most.other
}

/** A vendor's model searches in rounds, ten where its vendor says how many (Anthropic, "Server tools"). */
const expectedSearches: Units = { webSearch: 10 }

/** A tool of the vendor's own that searches, in the words of chats, of Responses and of Anthropic. */
const searchTool = /"type"\s*:\s*"web_search|"web_search_options"\s*:\s*\{/

/** Calls that the vendor may make by itself, where they have a price. */
export function expectedCalls(rate: Rate, { body }: Pick<Peek, 'body'>): Units | undefined {
  if (!rate.prices('webSearch') || !searchTool.test(decoder.decode(body))) return undefined
  return expectedSearches
}

/** What to hold; null where it is more than any wallet can have. */
export function holdFor(rate: Rate, expected: Expected): Nano | null {
  const nano = rate.ceiling(expected)
  return nano > maxNano ? null : nano
}

/** Tokens of a text that nobody counted. */
export function countedTokens(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken)
}
