// Sound to text, and text to sound.

import type { Dialect } from '../dialect.ts'
import type { DialectId, Operation } from '../formats.ts'
import type { JsonObject } from '../ir.ts'
import { openaiBase } from '../openai/base.ts'
import type { Peek } from '../request.ts'
import { peekSpeech } from './peek-speech.ts'
import {
  peekTranscription,
  peekTranslation,
  transcriptionForm,
  translationForm,
} from './peek-transcription.ts'
import { SpeechReplay, TranscriptReplay } from './replay.ts'
import { SoundWatcher } from './watcher.ts'
import { rawSound, rawSpeech, tailTranscript, wholeTranscript } from './whole.ts'

type Own = Pick<Dialect, 'peek' | 'isRaw' | 'raw' | 'replay' | 'form' | 'formOnly' | 'typeOf'>

function dialect(id: DialectId, operation: Operation, path: string, own: Own): Dialect {
  return {
    ...openaiBase,
    id,
    operation,
    path,
    idPrefix: '',
    terminator: '',
    usageAlways: true,
    watcher: () => new SoundWatcher(),
    whole: wholeTranscript,
    tail: (bytes, _quirks, peek) => tailTranscript(bytes, peek),
    ...own,
  }
}

const heard = {
  formOnly: true,
  isRaw: (type) => type.startsWith('text/') || type === 'application/x-subrip',
  raw: rawSound,
  replay: (peek, type) => new TranscriptReplay(peek, type),
} satisfies Partial<Own>

const types: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
}

/** What a vendor calls mere bytes is what the client asked for. */
function typeOfSpeech(type: string, { body }: Peek): string {
  if (type !== 'application/octet-stream') return type
  const { response_format: format } = JSON.parse(new TextDecoder().decode(body)) as JsonObject
  return types[typeof format === 'string' ? format : 'mp3'] ?? type
}

export const audioDialects = {
  'openai-transcriptions': dialect(
    'openai-transcriptions',
    'transcription',
    '/audio/transcriptions',
    { ...heard, peek: peekTranscription, form: transcriptionForm },
  ),
  'openai-translations': dialect('openai-translations', 'translation', '/audio/translations', {
    ...heard,
    peek: peekTranslation,
    form: translationForm,
  }),
  'openai-speech': dialect('openai-speech', 'speech', '/audio/speech', {
    peek: peekSpeech,
    isRaw: (type) => type.startsWith('audio/') || type === 'application/octet-stream',
    raw: rawSpeech,
    replay: () => new SpeechReplay(),
    typeOf: typeOfSpeech,
  }),
}
