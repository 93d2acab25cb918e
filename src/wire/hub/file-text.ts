// What a file of text says, for formats that take no such files.

import type { FilePart } from '../ir.ts'
import { isPlainText, readDataUrl, textOf } from './data-url.ts'

/** The text of a file given by its bytes, under its name; null of any other file. Throws GatewayError for bad base64. */
export function fileText({ url, name }: FilePart, place: string): string | null {
  const data = readDataUrl(url, place)
  if (data === null || !isPlainText(data.mediaType)) return null
  const text = textOf(data.data, place)
  return name === undefined ? text : `${name}:\n\n${text}`
}
