// The operations for transcripts, translations and speech.

import type { ClientDialectId } from '../../wire/formats.ts'
import { audioDialects } from '../../wire/openai-audio/dialects.ts'
import { addDialects } from '../../wire/registry.ts'
import { mediaRelay } from '../adapters/operation.ts'
import type { Operation } from '../operation.ts'

addDialects(audioDialects)

function audioRequest(dialect: ClientDialectId): Operation {
  return { dialect, files: 'sounds', upstream: mediaRelay }
}

export const transcriptions = audioRequest('openai-transcriptions')
export const translations = audioRequest('openai-translations')
export const speech = audioRequest('openai-speech')
