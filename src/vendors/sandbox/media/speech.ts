// The sandbox's speech model: one tone per word, in the formats that are simple enough to encode here.

import { invalidRequest } from '../../../errors.ts'
import type { MediaCall, MediaReply } from '../../media.ts'
import { countTokens } from '../text.ts'
import { flac, mp3, pcm, wav } from './sound.ts'
import { secondsToSay, type Tune, tuneOf } from './tune.ts'

interface Format {
  readonly type: string
  write(tune: Tune): Generator<Uint8Array>
}

const formats: ReadonlyMap<string, Format> = new Map(
  Object.entries({
    mp3: { type: 'audio/mpeg', write: mp3 },
    wav: { type: 'audio/wav', write: wav },
    flac: { type: 'audio/flac', write: flac },
    pcm: { type: 'audio/pcm', write: pcm },
  }),
)

/** Audio tokens per second, as realtime models count them. */
export const tokensPerSecond = 20
/** The longest text that is spoken, in characters. */
const maxCharacters = 100_000

/** Throws `invalid_request_error` where the request is invalid. */
export function speechReply({ fields }: MediaCall): MediaReply {
  const { input, speed, response_format: wanted } = fields
  const format = formats.get(typeof wanted === 'string' ? wanted : 'mp3')
  if (format === undefined) {
    const known = [...formats.keys()].join(', ')
    throw invalidRequest(`The sandbox makes sound as ${known}`, 'response_format')
  }
  if (typeof input !== 'string' || input.length > maxCharacters)
    throw invalidRequest(`'input' must be a text of up to ${maxCharacters} characters`, 'input')
  const pace = typeof speed === 'number' && speed > 0 ? speed : 1
  const [inputTokens, outputTokens] = [
    countTokens(input),
    Math.ceil(secondsToSay(input, pace) * tokensPerSecond),
  ]
  return {
    kind: 'sound',
    type: format.type,
    chunks: later(format.write(tuneOf(input, pace))),
    usage: () => ({
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
    }),
  }
}

async function* later(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks
}
