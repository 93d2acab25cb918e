// Assembles the dialects of transcription, translation and speech.

import { type ClientSide, format, type MediaSide } from '../dialect.ts'
import type { CommonDialectId } from '../formats.ts'
import type { JsonObject } from '../ir.ts'
import { openaiClient, openaiVendor } from '../openai/base.ts'
import type { Peek } from '../request.ts'
import { peekSpeech } from './peek-speech.ts'
import {
  peekTranscription,
  peekTranslation,
  transcriptionForm,
  translationForm,
} from './peek-transcription.ts'
import { plainTranscript } from './plain.ts'
import { SpeechReplay, TranscriptReplay } from './replay.ts'
import { SoundWatcher } from './watcher.ts'
import { rawSpeech, rawTranscript, tailTranscript, wholeTranscript } from './whole.ts'

type Own = Pick<ClientSide, 'path' | 'peek' | 'form' | 'formOnly'>

function dialect(id: CommonDialectId, own: Own, media: MediaSide) {
  return format(id, {
    client: { ...openaiClient, idPrefix: '', ...own },
    vendor: { ...openaiVendor, usageAlways: true },
    identity: {
      terminator: '',
      watcher: ({ peek }) => new SoundWatcher(peek),
      whole: wholeTranscript,
      tail: (bytes, _quirks, peek) => tailTranscript(bytes, peek),
    },
    media,
  })
}

const transcripts: MediaSide = {
  // A page is the error of a proxy before the vendor, and no transcript.
  isRaw: (type) =>
    (type.startsWith('text/') && type !== 'text/html') || type === 'application/x-subrip',
  raw: rawTranscript,
  replay: (peek, type) => new TranscriptReplay(peek, type),
  plain: plainTranscript,
}

const types: ReadonlyMap<string, string> = new Map(
  Object.entries({
    mp3: 'audio/mpeg',
    opus: 'audio/ogg',
    aac: 'audio/aac',
    flac: 'audio/flac',
    wav: 'audio/wav',
    pcm: 'audio/pcm',
  }),
)

/** Replaces a vendor's `application/octet-stream` by the type of the format that the client asked for. */
function typeOfSpeech(type: string, { body }: Peek): string {
  if (type !== 'application/octet-stream') return type
  const { response_format: format } = JSON.parse(new TextDecoder().decode(body)) as JsonObject
  return types.get(typeof format === 'string' ? format : 'mp3') ?? type
}

const speech: MediaSide = {
  isRaw: (type) => type.startsWith('audio/') || type === 'application/octet-stream',
  raw: rawSpeech,
  replay: (peek) => new SpeechReplay(peek),
  typeOf: typeOfSpeech,
}

export const audioDialects = {
  'openai-transcriptions': dialect(
    'openai-transcriptions',
    {
      path: '/audio/transcriptions',
      peek: peekTranscription,
      form: transcriptionForm,
      formOnly: true,
    },
    transcripts,
  ),
  'openai-translations': dialect(
    'openai-translations',
    { path: '/audio/translations', peek: peekTranslation, form: translationForm, formOnly: true },
    transcripts,
  ),
  'openai-speech': dialect('openai-speech', { path: '/audio/speech', peek: peekSpeech }, speech),
}
