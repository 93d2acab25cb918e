// Which files a form takes, how large each may be, and what the setting is called.

import type { UploadSettings } from '../../../config/types.ts'
import type { FilesTaken } from '../../../operations/operation.ts'
import type { ClientDialect } from '../../../wire/dialect.ts'
import { safeName } from './file-name.ts'

export interface FileRule {
  /** Media types as the bytes show them. */
  readonly types: ReadonlySet<string>
  /** As a refusal names them. */
  readonly names: string
  readonly maxBytes: number
  /** The key of the configuration that `maxBytes` is from. */
  readonly setting: string
}

const images = {
  types: new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif']),
  names: 'png, jpeg, webp, gif',
}

/** OpenAI's list; a film's sound is taken too. */
const sounds = {
  types: new Set([
    'audio/flac',
    'audio/mpeg',
    'audio/mp4',
    'audio/ogg',
    'audio/wav',
    'audio/webm',
    'video/mp4',
    'video/mpeg',
    'video/webm',
  ]),
  names: 'flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav, webm',
}

/** Pictures unless sounds are said. */
export function fileRuleFor(files: FilesTaken | null, uploads: UploadSettings): FileRule {
  return files === 'sounds'
    ? { ...sounds, maxBytes: uploads.maxAudioBytes, setting: 'uploads.maxAudioBytes' }
    : { ...images, maxBytes: uploads.maxImageBytes, setting: 'uploads.maxImageBytes' }
}

/** What files of a type are called; the first where nobody said. */
const endings: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    'audio/flac': ['flac'],
    'audio/mp4': ['m4a', 'mp4'],
    'audio/mpeg': ['mp3', 'mpga', 'mpeg'],
    'audio/ogg': ['ogg', 'oga', 'opus'],
    'audio/wav': ['wav'],
    'audio/webm': ['webm'],
    'image/gif': ['gif'],
    'image/jpeg': ['jpg', 'jpeg'],
    'image/png': ['png'],
    'image/webp': ['webp'],
    'video/mp4': ['mp4', 'm4a'],
    'video/mpeg': ['mpeg', 'mpg'],
    'video/webm': ['webm'],
  }),
)

/** The client's name for a file, or its field's, with an ending of its type: vendors go by it. */
export function namedAs(type: string, name: string, field: string): string {
  const known = endings.get(type) ?? []
  const given = name === '' ? field : name
  if (known.some((ending) => given.toLowerCase().endsWith(`.${ending}`))) return given
  return safeName(`${given}.${known[0] ?? 'bin'}`)
}

/** Texts, and the heads of parts. */
const besideFilesBytes = 3 * 1_048_576

/** What a whole form may weigh: where it takes single files alone, no more than they. */
export function formBoundFor(
  { client }: ClientDialect,
  taken: FilesTaken | null,
  uploads: UploadSettings,
): number {
  const { form = {} } = client
  const kinds = Object.values(form)
  if (kinds.includes('files')) return uploads.maxFormBytes
  const { maxBytes } = fileRuleFor(taken, uploads)
  const files = kinds.filter((kind) => kind === 'file').length
  return Math.min(uploads.maxFormBytes, files * maxBytes + besideFilesBytes)
}
