// Encodes images, audio and files of a request: as inline bytes, or as a URL for Google to fetch.

import { invalidRequest } from '../../errors.ts'
import { readDataUrl } from '../hub/data-url.ts'
import type { JsonObject, JsonValue, RequestPart } from '../ir.ts'
import { ownFields } from './fields.ts'
import { audioTypeOf, mediaTypeOf } from './media.ts'

type MediaPart = Extract<RequestPart, { readonly type: 'image' | 'audio' | 'file' }>

/** One image, audio or file part: its bytes inline, or its URL for Google to fetch. */
export function mediaPart(part: MediaPart, path: string, dropped: string[]): JsonObject {
  const { mimeType, ...rest } = ownFields(part.extra)
  if (part.type === 'audio') {
    return { inlineData: { mimeType: audioTypeOf(part.format), data: part.data }, ...rest }
  }
  if (part.type === 'image' && part.detail !== undefined && part.detail !== 'auto') {
    dropped.push(`${path}.image_url.detail`)
  }
  const { url, vendorFile } = part
  const name = part.type === 'file' ? part.name : undefined
  // Google's API takes no names of files; Vertex alone does.
  if (name !== undefined) dropped.push(`${path}.file.filename`)
  if (vendorFile !== undefined) {
    if (!isGoogles(vendorFile)) {
      throw invalidRequest(`${path} is a file stored at another vendor`, path)
    }
    return { fileData: fileData(vendorFile, mimeType, part, name), ...rest }
  }
  const inline = readDataUrl(url, path)
  if (inline === null) return { fileData: fileData(url, mimeType, part, name), ...rest }
  const guessed = mediaTypeOf('', name, inline.mediaType)
  const vague = inline.mediaType === 'application/octet-stream'
  return {
    inlineData: { mimeType: vague ? guessed : inline.mediaType, data: inline.data },
    ...rest,
  }
}

function isGoogles(uri: string): boolean {
  return /^(gs:\/\/|https:\/\/|files\/)/i.test(uri)
}

function fileData(
  fileUri: string,
  declaredType: JsonValue | undefined,
  part: MediaPart,
  name: string | undefined,
): JsonObject {
  const otherwise = part.type === 'image' ? 'image/jpeg' : 'application/pdf'
  // A YouTube video needs no media type (ai.google.dev, "Video understanding").
  const film = /^https:\/\/(www\.)?(youtube\.com|youtu\.be)\//i.test(fileUri)
  if (typeof declaredType !== 'string' && film) return { fileUri }
  const mimeType =
    typeof declaredType === 'string' ? declaredType : mediaTypeOf(fileUri, name, otherwise)
  return { mimeType, fileUri }
}
