// The size of a prompt in tokens, before the work: its text by its bytes, what stands beside it by its vendor's rule.

import { type Attachment, attachmentsAt } from '../wire/media/attachment.ts'
import { soundOf } from '../wire/openai-audio/duration.ts'
import type { Peek } from '../wire/request.ts'
import { type MediaRules, mediaRulesOf } from './media-rules.ts'

/** Tokens of what stands beside the text. */
interface MediaTokens {
  /** Of films and documents, which have no price of their own. */
  readonly other: number
  readonly image: number
  readonly audio: number
}

export interface PromptMedia {
  /** Bytes of the request that are text. */
  readonly textBytes: number
  /** At most, for the hold. */
  readonly most: MediaTokens
  /** Where nobody reports. */
  readonly likely: MediaTokens
}

type Attached = Pick<Peek, 'body' | 'attachments' | 'attachmentDetail'>

/** Where a document's pages cannot be counted, it has at most one for so many bytes. */
const leastPageBytes = 1_024
/** A page is 1,500 to 3,000 tokens, and about as many bytes for each as this. */
const documentBytesPerToken = 30
/** Where nobody reports, what stands at an address is charged as a page, or as so long: nobody saw more of it. */
const unseenSeconds = 60
/** Gemini looks at a film no more often in a second ("Video understanding"). */
const mostFrames = 24
const none: MediaTokens = { other: 0, image: 0, audio: 0 }

/**
 * What the attachments of a request come to. `models`: the vendors' names of those that may be asked; where
 * they count differently, the dearest way counts.
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

/** At an address nobody knows how long it is: held for as what is longest, and counted as what is short. */
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
