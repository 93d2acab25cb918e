// Refuses files of Google Cloud Storage that a client names, unless the operator lists their bucket for the channel.

import { invalidRequest } from '../errors.ts'
import type { JsonObject, JsonValue } from '../wire/ir.ts'
import { isObject } from '../wire/json/value.ts'
import type { Amendment } from './amendments.ts'

/** A letter, or the underscore, may also be written as an escape, in the name of a member as in its value. */
export const escapes = ['4', '5', '6', '7'].map((digit) => `\\u00${digit}`)
/** Members with prompts; others name no files. */
const prompts = ['contents', 'systemInstruction', 'system_instruction']
const addressNames: ReadonlySet<string> = new Set(['fileUri', 'file_uri'])
/** Arguments and results of functions are the client's own. */
const opaqueNames: ReadonlySet<string> = new Set(['args', 'response'])

/** Vertex reads `gs://` with the channel's own rights ("Image understanding", as known on 2026-11-22). */
export const listedBuckets: Amendment = {
  texts: ['fileUri', 'file_uri', ...escapes],
  apply(body, _, { fileBuckets = '' }) {
    const listed = new Set(fileBuckets.split(/[\s,]+/).filter((name) => name !== ''))
    for (const name of prompts) check(body[name], name, listed)
  },
}

function check(value: JsonValue | undefined, path: string, listed: ReadonlySet<string>): void {
  if (Array.isArray(value))
    for (const [at, each] of value.entries()) check(each, `${path}[${at}]`, listed)
  else if (isObject(value)) checkMembers(value, path, listed)
}

function checkMembers(object: JsonObject, path: string, listed: ReadonlySet<string>): void {
  for (const [name, value] of Object.entries(object)) {
    const param = `${path}.${name}`
    if (!opaqueNames.has(name) && typeof value === 'object') check(value, param, listed)
    if (!addressNames.has(name) || typeof value !== 'string') continue
    const [, bucket] = /^\s*gs:\/*([^/]*)/i.exec(value) ?? []
    if (bucket === undefined || listed.has(bucket)) continue
    throw invalidRequest(
      `${param}: files of this bucket cannot be named here; send the bytes`,
      param,
    )
  }
}
