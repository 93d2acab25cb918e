// The rule that a table which is looked up by a word is a Map, since an object also answers to `constructor` and
// similar words.
import { isTest } from './layers.ts'
import type { Source } from './source.ts'

const tables = /^(?:export )?const (\w+): (?:Readonly<\s*)?(?:Partial<)?Record<string,/gm

function wordsAreLookedUpInMaps(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => path.startsWith('src/') && !isTest(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(tables)].flatMap(([, name = '']) => {
        const use = new RegExp(`(?<![\\w.'])${name}(\\?\\.)?\\[(?!['\\]])|\\bin ${name}\\b`)
        const found = use.exec(text)
        const line = text.slice(0, found?.index).split('\n').length
        return found === null ? [] : [`${path}:${line}: looks a word up in the object ${name}`]
      }),
    )
}

export const tableRule = {
  rule: wordsAreLookedUpInMaps,
  bad: [
    ['src/wire/a.ts', 'const a: Readonly<Record<string, number>> = {}\nexport const b = a[c]'],
    ['src/wire/a.ts', 'const a: Readonly<\n  Record<string, number>\n> = {}\nb(a[c]?.d)'],
    ['src/wire/a.ts', 'export const a: Partial<Record<string, T>> = {}\nif (b in a) c()'],
  ],
  good: [
    ['src/wire/a.ts', 'const a: ReadonlyMap<string, number> = new Map()\nb(a.get(c))'],
    ['src/wire/b.ts', `const a: Record<string, number> = {}\nb(a['c'], d.a[e], Object.keys(a))`],
    ['src/wire/c.ts', 'const a: Readonly<Record<Kind, number>> = {}\nb(a[c])'],
    ['src/wire/d.test.ts', 'const a: Record<string, number> = {}\nb(a[c])'],
  ],
} as const
