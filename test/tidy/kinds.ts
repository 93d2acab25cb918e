// The rule that http/ and the relay name no format, operation or vendor, so that a new one changes neither.
import { vendors } from '../../src/vendors/registry.ts'
import { operationOf } from '../../src/wire/formats.ts'
import { isTest } from './layers.ts'
import type { Source } from './source.ts'

/** The endpoint table is where they are named. */
const table = 'src/http/endpoints.ts'
const unaware = /^src\/(http|relay)\//

/** Formats and vendors, which have the same names in code and in text. */
const ids: readonly string[] = [...Object.keys(operationOf), ...Object.keys(vendors)]
const named: ReadonlySet<string> = new Set(ids.flatMap((id) => [id, inCamelCase(id)]))
/** Words that are also part of a message. */
const partType = 'image'
const texts: ReadonlySet<string> = new Set(
  [...ids, ...Object.values(operationOf)].filter((text) => text !== partType),
)

function inCamelCase(id: string): string {
  return id.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** A folder of an operation, or a folder or file named like a format or vendor. */
function isOfOneKind(specifier: string): boolean {
  if (/\/operations\/[^/]+\//.test(specifier)) return true
  return specifier.split('/').some((part) => texts.has(part.replace(/\.ts$/, '')))
}

export function namesNoKind(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => unaware.test(path) && path !== table && !isTest(path))
    .flatMap(({ path, imports, strings, names, references }) => {
      const lines = [
        ...imports.filter(({ specifier }) => isOfOneKind(specifier)),
        ...strings.filter(({ text }) => texts.has(text)),
        ...names.filter(({ text }) => named.has(text)),
        ...references.filter(({ name, member }) => named.has(name) || named.has(member)),
      ].map(({ line }) => line)
      return [...new Set(lines)].map((line) => `${path}:${line}: names one kind of request`)
    })
}
