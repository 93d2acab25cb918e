// Assembles the dialect of video jobs, which are started with a text and optionally an image, a duration and a size.

import { invalidRequest } from '../../errors.ts'
import { format as formatOf } from '../dialect.ts'
import type { JsonObject } from '../ir.ts'
import type { Member } from '../json/scan.ts'
import { openaiClient, openaiIdentity, openaiVendor } from '../openai/base.ts'
import { mediaFormat, peekMedia, wholeMedia } from '../openai/media.ts'
import { integer, object, type Rule, stringOf } from '../openai/rules.ts'
import type { FormFields, Units } from '../request.ts'

const maxPromptChars = 32_000

const prompt: Rule = (bytes, start, end, kind) => {
  const complaint = `must be a string of 1 to ${maxPromptChars} characters`
  if (kind !== 'string') return complaint
  const { length } = stringOf(bytes, start, end)
  return length > 0 && length <= maxPromptChars ? null : complaint
}

function text(pattern: RegExp, complaint: string): Rule {
  return (bytes, start, end, kind) =>
    kind === 'string' && pattern.test(stringOf(bytes, start, end)) ? null : complaint
}

/** Other vendors' names, which are refused, so that a single count, length and size is read, held for and sent. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  'a request makes one video': ['num_videos', 'number_of_videos', 'num_outputs', 'batch_size'],
  'use seconds': ['duration', 'duration_seconds', 'num_frames', 'frames', 'fps'],
  'use size': ['resolution', 'width', 'height'],
}

const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...Object.entries(otherNames).flatMap(([instead, names]) =>
    names.map((name): [string, Rule] => [name, () => `is not supported; ${instead}`]),
  ),
  ['n', integer(1, 1)],
  ['prompt', prompt],
  ['seconds', text(/^[1-9]\d{0,2}$/, 'must be a string of whole seconds, such as "4"')],
  ['size', text(/^[1-9]\d{1,4}x[1-9]\d{1,4}$/, 'must be WIDTHxHEIGHT, such as 1280x720')],
  ['input_reference', object],
  // The vendor would begin a job whose reply then is not the stream that was asked for.
  [
    'stream',
    (_bytes, _start, _end, kind) => (kind === 'true' ? 'is not possible for videos' : null),
  ],
])

const format = mediaFormat(rules)

const form: FormFields = {
  model: 'text',
  prompt: 'text',
  seconds: 'text',
  size: 'text',
  input_reference: 'file',
}

/** Units charged for a video of this duration and size. */
function videoUnits(seconds: number, size: string | null): Units {
  return { [size === null ? 'second' : `second/${size}`]: seconds }
}

function textOfMember(bytes: Uint8Array, members: readonly Member[], key: string): string | null {
  const member = members.find((each) => each.key === key && each.kind === 'string')
  return member === undefined ? null : stringOf(bytes, member.start, member.end)
}

/** Ids become parts of addresses. */
const mostIdChars = 1_024

/** Reads a job object, of which only the id is required. */
function see(body: JsonObject) {
  const { id } = body
  if (typeof id !== 'string' || id === '' || id.length > mostIdChars)
    return { kind: 'unreadable', message: "the vendor's reply has no job id" } as const
  // A job is charged by the seconds requested, not by tokens.
  const usage = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 }
  return { usage, finishReason: null, model: null }
}

export const videos = formatOf('openai-videos', {
  client: {
    ...openaiClient,
    path: '/videos',
    idPrefix: 'video_',
    form,
    peek: (body, address = {}) =>
      peekMedia(body, address, format, ({ bytes, members }) => {
        if (textOfMember(bytes, members, 'prompt') === null)
          throw invalidRequest('prompt is required', 'prompt')
        const seconds = textOfMember(bytes, members, 'seconds')
        return { units: videoUnits(Number(seconds ?? 4), textOfMember(bytes, members, 'size')) }
      }),
  },
  vendor: openaiVendor,
  // The client gets an object of the gateway's own in place of the vendor's, however large that is.
  identity: {
    ...openaiIdentity,
    terminator: '',
    whole: (body) => wholeMedia(body, see),
    mustRecode: () => true,
  },
})
