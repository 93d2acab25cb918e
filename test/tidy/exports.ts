// A rule on exports: another file must use each, and an export that only tests use must also be used in its own file.
import { posix } from 'node:path'
import { isTest } from './layers.ts'
import type { Source } from './source.ts'

type Takers = Map<string, { readonly byTests: boolean }>

export function exportsAreUsed(sources: readonly Source[]): string[] {
  const taken: Takers = new Map()
  for (const source of sources) noteTaken(source, taken)
  const product = sources.filter((source) => source.path.startsWith('src/'))
  return product.flatMap((source) =>
    source.exports.flatMap(({ name, line }) => {
      const takers = [`${source.path} ${name}`, source.path].flatMap((key) => taken.get(key) ?? [])
      if (takers.length === 0) return [`${source.path}:${line}: no other file takes ${name}`]
      const forTests = !isForTests(source) && takers.every(({ byTests }) => byTests)
      const needless = forTests && !source.references.some((one) => one.name === name)
      return needless ? [`${source.path}:${line}: only tests use ${name}`] : []
    }),
  )
}

/** By path and name; by path alone if a file is imported as a whole, also by a string that names it. */
function noteTaken(source: Source, taken: Takers): void {
  const byTests = isForTests(source)
  const take = (specifier: string, names: readonly string[]): void => {
    const path = posix.join(posix.dirname(source.path), specifier)
    for (const key of names.length === 0 ? [path] : names.map((name) => `${path} ${name}`))
      taken.set(key, { byTests: byTests && taken.get(key)?.byTests !== false })
  }
  for (const { specifier, names } of source.imports) take(specifier, names)
  for (const { text } of source.strings) if (/^\.\.?\/.+\.ts$/.test(text)) take(text, [])
}

/** The simulator of payment providers exists primarily for tests. */
function isForTests({ path, text }: Source): boolean {
  if (path.startsWith('src/paysim/')) return true
  return isTest(path) || path.endsWith('/testing.ts') || text.startsWith('// For tests')
}
