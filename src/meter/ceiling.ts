// How much to hold for a request before it is sent, and how much more while it streams.

import type { ModelKind } from '../config/types.ts'
import { maxNano, type Nano } from '../money.ts'
import type { Peek } from '../wire/request.ts'
import type { Expected, Rate, Units } from './meter.ts'
import type { PromptMedia } from './prompt-size.ts'

/** An estimate where no vendor reported a count: about four bytes of text per token. */
export const bytesPerToken = 4

/** The reader of usage rejects reports of more tokens than this, so no more is held for a reply. */
const maxTokens = 1_000_000_000

/** The assumed length of a whole reply where neither the client nor the catalogue bounds it. */
const unboundedReplyTokens = 4_096

/** A stream extends its hold by this many tokens at a time. */
const quantumTokens = 256

/** After this many bytes of output a stream checks whether its hold covers what comes next. */
export const quantumBytes = quantumTokens * bytesPerToken

const withoutOutput: ReadonlySet<ModelKind> = new Set(['embedding', 'rerank', 'moderation'])

const decoder = new TextDecoder()

/** What bounds the size of a request: the request itself and its model. */
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
  /** In tokens; null where the catalogue does not know. */
  readonly model: { readonly context: number | null; readonly maxOutput: number | null }
  /** The length in tokens that streams of this key and model usually stay below. */
  readonly usualOutputTokens: number
  /** Images, audio and files in the prompt; null where there are none. */
  readonly media: PromptMedia | null
  readonly units: Units | null
}

/**
 * A request's size, bounded by what is known beforehand. A stream is expected to have the usual length, since it can
 * extend its hold as it flows. A whole reply is expected to be as long as it may be.
 */
export function expectedOf(bounds: Bounds): Expected {
  const { kind, peek, model, units } = bounds
  const context = model.context ?? maxTokens
  const inputTokens = Math.min(promptTokens(bounds), context)
  if (withoutOutput.has(kind)) return { kind, inputTokens, outputTokens: 0, units }
  const limit = Math.min(peek.maxOutputTokens ?? maxTokens, model.maxOutput ?? maxTokens, context)
  const known = peek.maxOutputTokens !== null || model.maxOutput !== null
  // A stream of images cannot extend its hold step by step: most of it arrives at once.
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

/** A token of text nearly always has at least three bytes; a token id has a comma, so two. */
function promptTokens({ peek, media }: Bounds): number {
  if (peek.inputTokens !== undefined) return peek.inputTokens
  const bytesEach = peek.tokenInput ? 2 : 3
  if (media === null) return Math.ceil(peek.body.length / bytesEach)
  return Math.ceil(media.textBytes / bytesEach) + media.most.image + media.most.other
}

/** Searches expected of a model with a search tool: Anthropic documents at most ten rounds ("Server tools"). */
const expectedSearches: Units = { webSearch: 10 }

/** A vendor's own search tool, in the dialects of chats, Responses and Anthropic. */
const searchTool = /"type"\s*:\s*"web_search|"web_search_options"\s*:\s*\{/

/** One picture of medium quality (OpenAI, "Image generation", cost). Agents offer the tool and seldom use it. */
const expectedPictures: Units = { toolImageOutput: 1_056 }

/** OpenAI's tool in Responses. */
const pictureTool = /"type"\s*:\s*"image_generation"/

/** Tool calls that the vendor may make by itself, where the card prices them. */
export function expectedCalls(
  rate: Rate,
  { body }: Pick<Peek, 'body'>,
  takesPictureTool: boolean,
): Units | undefined {
  const searches = rate.prices('webSearch')
  const pictures = takesPictureTool && rate.prices('toolImageOutput')
  if (!searches && !pictures) return undefined
  const text = decoder.decode(body)
  const found = {
    ...(searches && searchTool.test(text) && expectedSearches),
    ...(pictures && pictureTool.test(text) && expectedPictures),
  }
  return Object.keys(found).length === 0 ? undefined : found
}

/** The amount to hold; null where it exceeds what any wallet can have. */
export function holdFor(rate: Rate, expected: Expected): Nano | null {
  const nano = rate.ceiling(expected)
  return nano > maxNano ? null : nano
}

/** Estimated tokens of a text that no vendor counted. */
export function countedTokens(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken)
}

/** Tokens of ordinary text are shorter on average: a reply with more bytes than this has exceeded its limit. */
const longestBytesPerToken = 8

/**
 * Estimated tokens of a reply that no vendor counted: at most the limit that the vendor was given (null: none), unless
 * the reply is so long that the vendor has evidently ignored it.
 */
export function countedReply(bytes: number, limitTokens: number | null): number {
  const tokens = countedTokens(bytes)
  if (limitTokens === null || bytes > limitTokens * longestBytesPerToken) return tokens
  return Math.min(tokens, limitTokens)
}
