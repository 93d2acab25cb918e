// Parses and builds `data:` URLs, for formats that keep media type and bytes apart.

import { invalidRequest } from '../../errors.ts'

interface DataUrl {
  /** In lower case, without parameters. */
  readonly mediaType: string
  /** Base64 without white space. */
  readonly data: string
}

const decoder = new TextDecoder()
const encoder = new TextEncoder()

function binary(bytes: Uint8Array): string {
  let text = ''
  // In pieces, because the number of arguments of a call is limited.
  for (let at = 0; at < bytes.length; at += 8_192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8_192))
  }
  return text
}

/** The text's UTF-8 as base64. */
export function base64Of(text: string): string {
  return btoa(binary(encoder.encode(text)))
}

function percentDecoded(text: string, param: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (!(error instanceof URIError)) throw error
    throw invalidRequest(`${param} is not a valid data: URL`, param)
  }
}

/** Null where the address is not a `data:` URL. Throws GatewayError naming `param` where it is malformed. */
export function readDataUrl(url: string, param: string): DataUrl | null {
  if (!/^data:/i.test(url)) return null
  const comma = url.indexOf(',')
  if (comma < 0) throw invalidRequest(`${param} is not a valid data: URL`, param)
  const [type = '', ...parameters] = url.slice('data:'.length, comma).split(';')
  const mediaType = type.trim().toLowerCase() || 'text/plain'
  const rest = url.slice(comma + 1)
  if (parameters.some((each) => each.trim().toLowerCase() === 'base64')) {
    return { mediaType, data: /\s/.test(rest) ? rest.replace(/\s+/g, '') : rest }
  }
  return { mediaType, data: base64Of(percentDecoded(rest, param)) }
}

const plainTypes = /^(text\/|application\/(json|xml|yaml|x-yaml|javascript|x-ndjson)\b)/

/** Whether a file of this media type is plain text. */
export function isPlainText(mediaType: string): boolean {
  return plainTypes.test(mediaType)
}

/** A plain text as a `data:` URL, in UTF-8. */
export function textUrl(text: string): string {
  return `data:text/plain;base64,${base64Of(text)}`
}

/** The UTF-8 text that is in base64. Throws GatewayError naming `param` where it is not base64. */
export function textOf(data: string, param: string): string {
  try {
    return decoder.decode(Uint8Array.from(atob(data), (each) => each.charCodeAt(0)))
  } catch (error) {
    if (!(error instanceof DOMException)) throw error
    throw invalidRequest(`${param} is not valid base64`, param)
  }
}
