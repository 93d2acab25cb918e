// Refuses resources of the channel's own Google Cloud project that a client names, unless the operator lists them.

import { invalidRequest } from '../errors.ts'
import type { JsonObject, JsonValue } from '../wire/ir.ts'
import { isObject } from '../wire/json/value.ts'
import type { Amendment } from './amendments.ts'
import { escapes } from './vertex-buckets.ts'

const cacheNames = ['cachedContent', 'cached_content']
/** Tools that search data stores and corpora of a project ("Grounding with Vertex AI Search", "RAG Engine"). */
const searchName = 'retrieval'
const resourceForm = /^\s*\/*projects\//i

/** Vertex reads them with the channel's own rights; they are named by their whole resource names. */
export const listedResources: Amendment = {
  texts: [...cacheNames, searchName, ...escapes],
  apply(body, _, { resources = '' }) {
    const listed = new Set(resources.split(/[\s,]+/).filter((name) => name !== ''))
    for (const name of cacheNames) checkName(body[name], name, listed)
    for (const [at, tool] of listOf(body['tools']).entries()) {
      if (isObject(tool)) check(tool[searchName], `tools[${at}].${searchName}`, listed)
    }
  },
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}

function check(value: JsonValue | undefined, path: string, listed: ReadonlySet<string>): void {
  if (Array.isArray(value))
    for (const [at, each] of value.entries()) check(each, `${path}[${at}]`, listed)
  else if (isObject(value)) checkMembers(value, path, listed)
  else if (typeof value === 'string' && resourceForm.test(value)) checkName(value, path, listed)
}

function checkMembers(object: JsonObject, path: string, listed: ReadonlySet<string>): void {
  for (const [name, value] of Object.entries(object)) check(value, `${path}.${name}`, listed)
}

function checkName(value: JsonValue | undefined, param: string, listed: ReadonlySet<string>): void {
  if (typeof value !== 'string' || listed.has(value)) return
  throw invalidRequest(`${param}: this resource cannot be named here`, param)
}
