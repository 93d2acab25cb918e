// Rules for the files of a form: accepted types, largest size, and the setting that bounds it.

import type { UploadSettings } from '../../../config/types.ts'
import type { FilesTaken } from '../../../operations/operation.ts'
import type { ClientDialect } from '../../../wire/dialect.ts'
import { safeName } from './file-name.ts'

export interface FileRule {
  /** Accepted media types, as detected from the bytes. */
  readonly types: ReadonlySet<string>
  /** The accepted types as a refusal lists them. */
  readonly names: string
  readonly maxBytes: number
  /** The configuration key that sets `maxBytes`. */
  readonly setting: string
}

const images = {
  types: new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif']),
  names: 'png, jpeg, webp, gif',
}

/** OpenAI's list of audio types, and video containers, whose sound is used. */
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

/** The rule for audio where the operation takes sounds, else the rule for images. */
export function fileRuleFor(files: FilesTaken | null, uploads: UploadSettings): FileRule {
  return files === 'sounds'
    ? { ...sounds, maxBytes: uploads.maxAudioBytes, setting: 'uploads.maxAudioBytes' }
    : { ...images, maxBytes: uploads.maxImageBytes, setting: 'uploads.maxImageBytes' }
}

/** File extensions of each type; the first one is added to a name without any of them. */
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

/** The client's file name, or the field's name, with an extension of its type: vendors judge files by it. */
export function namedAs(type: string, name: string, field: string): string {
  const known = endings.get(type) ?? []
  const given = name === '' ? field : name
  if (known.some((ending) => given.toLowerCase().endsWith(`.${ending}`))) return given
  return safeName(`${given}.${known[0] ?? 'bin'}`)
}

/** Room for text fields and the heads of parts. */
const besideFilesBytes = 3 * 1_048_576

/** Largest size of a whole form: where it takes one file per field, the sum of these files. */
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
