// Refuses files and other resources that a client names and Vertex would read with the channel's own rights, unless the
// operator lists them for the channel.

import { invalidRequest } from '../errors.ts'
import type { JsonValue } from '../wire/ir.ts'
import { isObject } from '../wire/json/value.ts'
import type { Amendment } from './amendments.ts'

/** A letter, or the underscore, may also be written as an escape, in the name of a member as in its value. */
const escapes = ['4', '5', '6', '7'].map((digit) => `\\u00${digit}`)
/** Members with prompts; others name no files. */
const prompts = ['contents', 'systemInstruction', 'system_instruction']
const addressNames: ReadonlySet<string> = new Set(['fileUri', 'file_uri'])
/** Arguments and results of functions are the client's own. */
const opaqueNames: ReadonlySet<string> = new Set(['args', 'response'])
const cacheNames = ['cachedContent', 'cached_content']
/** Tools that search data stores and corpora of a project ("Grounding with Vertex AI Search", "RAG Engine"). */
const searchName = 'retrieval'

/** Vertex reads `gs://` with the channel's own rights ("Image understanding", as known on 2026-11-22). */
export const listedBuckets: Amendment = {
  texts: ['fileUri', 'file_uri', ...escapes],
  apply(body, _, { fileBuckets }) {
    const listed = namesIn(fileBuckets)
    for (const prompt of prompts) {
      for (const { text, name, path } of textsIn(body[prompt], prompt, opaqueNames)) {
        const [, bucket] = /^\s*gs:\/*([^/]*)/i.exec(text) ?? []
        if (!addressNames.has(name) || bucket === undefined || listed.has(bucket)) continue
        throw invalidRequest(
          `${path}: files of this bucket cannot be named here; send the bytes`,
          path,
        )
      }
    }
  },
}

/** Resources of the channel's project, by their whole resource names. */
export const listedResources: Amendment = {
  texts: [...cacheNames, searchName, ...escapes],
  apply(body, _, { resources }) {
    const listed = namesIn(resources)
    for (const name of cacheNames) {
      const cached = body[name]
      if (typeof cached === 'string') checkResource(cached, name, listed)
    }
    const tools = Array.isArray(body['tools']) ? body['tools'] : []
    for (const [at, tool] of tools.entries()) {
      const search = isObject(tool) ? tool[searchName] : undefined
      for (const { text, path } of textsIn(search, `tools[${at}].${searchName}`))
        if (/^\s*\/*projects\//i.test(text)) checkResource(text, path, listed)
    }
  },
}

function namesIn(list = ''): ReadonlySet<string> {
  return new Set(list.split(/[\s,]+/).filter((name) => name !== ''))
}

function checkResource(text: string, path: string, listed: ReadonlySet<string>): void {
  if (!listed.has(text)) throw invalidRequest(`${path}: this resource cannot be named here`, path)
}

interface NamedText {
  readonly text: string
  /** The name of the member that has it; '' in a list. */
  readonly name: string
  readonly path: string
}

/** The texts of a value, at any depth; none of the objects and lists in members of the names to `skip`. */
function* textsIn(
  value: JsonValue | undefined,
  path: string,
  skip: ReadonlySet<string> = new Set(),
  name = '',
): Generator<NamedText> {
  if (typeof value === 'string') yield { text: value, name, path }
  else if (Array.isArray(value)) {
    for (const [at, each] of value.entries()) yield* textsIn(each, `${path}[${at}]`, skip)
  } else if (isObject(value)) {
    for (const [member, each] of Object.entries(value))
      if (!skip.has(member)) yield* textsIn(each, `${path}.${member}`, skip, member)
  }
}
