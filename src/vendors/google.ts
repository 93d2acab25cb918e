// Google's Gemini API: the model and the method stand in the address, the key in a header of its own.

import { noSignature } from '../wire/gemini/models.ts'
import { sealPrefix, unseal } from '../wire/hub/seal.ts'
import type { JsonObject, JsonValue } from '../wire/ir.ts'
import type { Amend, Call, ChannelSettings, Vendor } from './vendor.ts'

/** A model as a path: `/` stands in names of tuned ones and of other publishers. */
export function modelPath(model: string): string {
  return model.split('/').map(encodeURIComponent).join('/')
}

/** The method, by which a call says whether it wants events. */
export function methodOf(call: Call): string {
  if (call.dialect === 'gemini-embeddings') return ':batchEmbedContents'
  return call.stream ? ':streamGenerateContent?alt=sse' : ':generateContent'
}

function address(call: Call, settings: ChannelSettings): string {
  const { model } = call
  const full = /^(models|tunedModels)\//.test(model) ? model : `models/${model}`
  return `${settings.baseUrl}/${modelPath(full)}${methodOf(call)}`
}

/**
 * Signatures that a client was given for another format's channel, or another's of this: they come back in requests
 * that are passed on as they are, and Google would refuse them.
 */
function withoutForeignSeals(value: JsonValue | undefined): void {
  if (Array.isArray(value)) for (const each of value) withoutForeignSeals(each)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  for (const name of ['thoughtSignature', 'thought_signature']) {
    const sealed = value[name]
    if (typeof sealed !== 'string' || unseal(sealed) === null) continue
    if (value.functionCall !== undefined || value.function_call !== undefined)
      value[name] = noSignature
    else delete value[name]
  }
  for (const name of ['contents', 'parts']) withoutForeignSeals(value[name])
}

export const foreignSeals: Amend = {
  keys: [],
  texts: [`"${sealPrefix}`],
  body(body: JsonObject) {
    withoutForeignSeals(body)
    return body
  },
}

export const google = {
  id: 'google',
  ownedBy: 'google',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  environment: 'GEMINI_API_KEY',
  speaks: ['gemini', 'gemini-embeddings'],
  usageOnStream: 'always',
  address,
  headers: ({ key }) => (key === null ? [] : [['x-goog-api-key', key]]),
  amend: foreignSeals,
  quirks: {},
} satisfies Vendor
