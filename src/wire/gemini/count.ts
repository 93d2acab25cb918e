// Estimates tokens for `countTokens`, at once and free of charge: callers only want to know whether a request fits.

import { invalidRequest } from '../../errors.ts'
import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject } from '../json/value.ts'
import { membersOf } from './fields.ts'

/** English text has about four bytes per token. */
const bytesPerToken = 4
/** The least that an image or a page costs (ai.google.dev, "Understand and count tokens"). */
const tokensPerMedium = 258

const encoder = new TextEncoder()

interface Counted {
  bytes: number
  media: number
}

function visit(value: JsonValue | undefined, counted: Counted): void {
  if (typeof value === 'string') counted.bytes += encoder.encode(value).length
  else if (typeof value === 'number') counted.bytes += String(value).length
  else if (Array.isArray(value)) for (const each of value) visit(each, counted)
  else if (isObject(value)) visitObject(value, counted)
}

function visitObject(value: JsonObject, counted: Counted): void {
  for (const [name, member] of Object.entries(value)) {
    if (/^(inlineData|inline_data|fileData|file_data)$/.test(name)) counted.media++
    else if (!/^(role|thoughtSignature|thought_signature)$/.test(name)) {
      // The model is also sent the names in arguments and schemas.
      if (!/^(parts|text|contents|role)$/.test(name)) counted.bytes += name.length
      visit(member, counted)
    }
  }
}

/** The `countTokens` reply to a body with `contents` or with a `generateContentRequest`. Throws GatewayError. */
export function countTokens(body: JsonValue): JsonObject {
  if (!isObject(body)) throw invalidRequest('the request body must be a JSON object', null)
  const members = membersOf(body)
  const { generateContentRequest: whole } = members
  const request = isObject(whole) ? membersOf(whole) : members
  const { contents, systemInstruction, tools } = request
  if (!Array.isArray(contents) && !isObject(contents))
    throw invalidRequest('contents must be an array', 'contents')
  const counted: Counted = { bytes: 0, media: 0 }
  for (const part of [contents, systemInstruction, tools]) visit(part, counted)
  const text = Math.ceil(counted.bytes / bytesPerToken)
  const totalTokens = text + counted.media * tokensPerMedium
  return { totalTokens }
}
