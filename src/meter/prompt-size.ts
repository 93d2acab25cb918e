// Estimates a prompt's tokens before it is sent: text by its bytes, attachments by their vendor's rules.

import { type Attachment, attachmentsAt } from '../wire/media/attachment.ts'
import { soundOf } from '../wire/openai-audio/duration.ts'
import type { Peek } from '../wire/request.ts'
import { type MediaRules, mediaRulesOf } from './media-rules.ts'

/** Tokens of the attachments. */
interface MediaTokens {
  /** Tokens of video and documents, which have no price of their own. */
  readonly other: number
  readonly image: number
  readonly audio: number
}

export interface PromptMedia {
  /** Bytes of the request that are text. */
  readonly textBytes: number
  /** Upper bound, used for the hold. */
  readonly most: MediaTokens
  /** Used where the vendor reports no usage. */
  readonly likely: MediaTokens
}

type Attached = Pick<Peek, 'body' | 'attachments' | 'attachmentDetail'>

/** A document whose pages cannot be counted has at most one page per this many bytes. */
const leastPageBytes = 1_024
/** An estimate: a page has 1,500 to 3,000 tokens, and about this many bytes for each. */
const documentBytesPerToken = 30
/** Audio or video at a URL, whose length is unknown, counts as this long where no usage is reported. */
const unseenSeconds = 60
/** The most frames per second that Gemini reads of a video ("Video understanding"). */
const mostFrames = 24
const none: MediaTokens = { other: 0, image: 0, audio: 0 }

/**
 * The tokens of a request's attachments. `models`: the vendors' names of the models that may be asked; where their
 * rules differ, the highest count is taken.
 */
export function promptMedia(
  { body, attachments: offsets = [], attachmentDetail }: Attached,
  models: readonly string[],
): PromptMedia {
  const attachments = attachmentsAt(body, offsets, attachmentDetail)
  let textBytes = body.length
  for (const { kind, spelledBytes, bytes } of attachments) {
    textBytes -= spelledBytes
    if (kind === 'text') textBytes += bytes
  }
  const rules = new Set(models.map(mediaRulesOf))
  let most = none
  let likely = none
  for (const each of rules.size === 0 ? [mediaRulesOf('')] : rules) {
    most = larger(most, summed(attachments, each, 'most'))
    likely = larger(likely, summed(attachments, each, 'likely'))
  }
  return { textBytes, most, likely }
}

function larger(one: MediaTokens, other: MediaTokens): MediaTokens {
  return {
    other: Math.max(one.other, other.other),
    image: Math.max(one.image, other.image),
    audio: Math.max(one.audio, other.audio),
  }
}

type Bound = 'most' | 'likely'

function summed(attachments: readonly Attachment[], rules: MediaRules, bound: Bound): MediaTokens {
  const sum = { other: 0, image: 0, audio: 0 }
  for (const each of attachments) {
    if (each.kind === 'image') sum.image += pictureTokens(each, rules, bound)
    else if (each.kind === 'audio') sum.audio += secondsOf(each, bound) * rules.audioPerSecond
    else if (each.kind === 'video') sum.other += filmTokens(each, rules, bound)
    else if (each.kind === 'document') sum.other += documentTokens(each, rules, bound)
  }
  return { other: Math.ceil(sum.other), image: Math.ceil(sum.image), audio: Math.ceil(sum.audio) }
}

function pictureTokens({ size, detail }: Attachment, rules: MediaRules, bound: Bound): number {
  if (size !== null) return rules.picture(size, detail)
  return bound === 'most' ? rules.mostPicture(detail) : rules.likelyPicture(detail)
}

/** Audio at a URL has an unknown length: held for as the longest possible, and counted as a short one. */
function secondsOf({ type, bytes, seconds }: Attachment, bound: Bound): number {
  if (bytes === 0 && bound === 'likely') return unseenSeconds
  const size = bytes === 0 ? Number.MAX_SAFE_INTEGER : bytes
  const { units, likelyUnits } = soundOf({ field: '', name: '', type, size, seconds })
  return (bound === 'most' ? units : (likelyUnits ?? units))?.['second'] ?? 0
}

function filmTokens(film: Attachment, rules: MediaRules, bound: Bound): number {
  const frames = Math.min(mostFrames, Math.max(1, film.framesPerSecond ?? 1))
  return secondsOf(film, bound) * rules.videoPerSecond(film.detail) * frames
}

function documentTokens({ bytes, pages }: Attachment, rules: MediaRules, bound: Bound): number {
  const { page, mostPages } = rules
  if (pages !== null) return Math.min(pages, mostPages) * page[bound]
  const mostKnown = bytes === 0 ? mostPages : Math.min(mostPages, Math.ceil(bytes / leastPageBytes))
  const most = mostKnown * page.most
  if (bound === 'most') return most
  if (bytes === 0) return page.likely
  return Math.min(most, Math.ceil(bytes / documentBytesPerToken))
}
