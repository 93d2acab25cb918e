// Names of files and their extensions, by which OpenAI tells the type of a file.

import type { FilePart } from '../ir.ts'
import { readDataUrl } from './data-url.ts'

const extensions: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'application/pdf': 'pdf',
    'application/json': 'json',
    'application/xml': 'xml',
    'application/msword': 'doc',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
    'application/vnd.ms-excel': 'xls',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
    'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
    'text/plain': 'txt',
    'text/markdown': 'md',
    'text/html': 'html',
    'text/csv': 'csv',
    'text/xml': 'xml',
  }),
)

const mediaTypes: ReadonlyMap<string, string> = new Map(
  [...extensions].map(([mediaType, extension]) => [extension, mediaType]),
)

/**
 * Bare base64 as a `data:` URL, of the type that the file's name says; a PDF, the one type that every vendor reads,
 * where the name says none.
 */
export function bareFileUrl(base64: string, name: string): string {
  const extension = /\.([a-z]+)$/i.exec(name)?.[1] ?? ''
  const mediaType = mediaTypes.get(extension.toLowerCase()) ?? 'application/pdf'
  return `data:${mediaType};base64,${base64}`
}

/** The name, with an extension, of a file that is given by its bytes; `place` is named if these are malformed. */
export function fileName({ name = 'file', url }: FilePart, place: string): string {
  if (/\.[A-Za-z0-9]{1,8}$/.test(name)) return name
  const extension = extensions.get(readDataUrl(url, place)?.mediaType ?? '')
  return extension === undefined ? name : `${name}.${extension}`
}
