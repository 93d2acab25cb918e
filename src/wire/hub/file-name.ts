// A file's name with an extension: OpenAI tells the type of a file by the end of its name, and refuses others.

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

/** The name of a file that is given by its bytes; `place` is named if these are malformed. */
export function fileName({ name = 'file', url }: FilePart, place: string): string {
  if (/\.[A-Za-z0-9]{1,8}$/.test(name)) return name
  const extension = extensions.get(readDataUrl(url, place)?.mediaType ?? '')
  return extension === undefined ? name : `${name}.${extension}`
}
