// Rules on what must accompany code: documentation of codes and keys, fixtures of vendors, links that resolve.
import { posix } from 'node:path'
import type { TreeFile } from './source.ts'

/** The words of all inline code and code blocks in docs/. */
function documentedWords(files: readonly TreeFile[]): Set<string> {
  const pages = files.filter(({ path }) => /^docs\/.*\.md$/.test(path))
  const code = pages.flatMap(({ text }) => text.match(/```[\s\S]*?```|`[^`\n]+`/g) ?? [])
  return new Set(code.flatMap((piece) => piece.match(/[\w-]+/g) ?? []))
}

/** Each name must be in docs/ in code type. `kind` says in the message what it is. */
export function namesAreDocumented(
  kind: string,
  names: readonly string[],
  files: readonly TreeFile[],
): string[] {
  const words = documentedWords(files)
  return names
    .filter((name) => !words.has(name))
    .map((name) => `${kind} ${name} is in no code span of docs/`)
}

/** Every property name that a JSON Schema defines, at any depth and under any keyword. */
export function schemaKeys(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const keys = Object.entries(schema).flatMap(([keyword, value]) => {
    if (keyword !== 'properties' && keyword !== '$defs' && keyword !== 'definitions') {
      // The entries under these keywords are values, not schemas.
      return ['default', 'const', 'enum', 'examples'].includes(keyword) ? [] : schemaKeys(value)
    }
    const entries: [string, unknown][] = Object.entries(value ?? {})
    const own = keyword === 'properties' ? entries.map(([key]) => key) : []
    return [...own, ...entries.flatMap(([, inner]) => schemaKeys(inner))]
  })
  return [...new Set(keys)]
}

/** Each number with which a page of docs/ begins a row, `| B7 | ...`, must be in the name of a test. */
export function rowsAreTested(page: TreeFile, files: readonly TreeFile[]): string[] {
  const tests = files.filter(({ path }) => path.endsWith('.test.ts'))
  const names = tests.flatMap(({ text }) => text.match(/(?<=\(\s*)(['`]).*?\1(?=,)/g) ?? [])
  const tested = new Set(names.flatMap((name) => name.match(/\b[A-Z]{1,2}\d+\b/g) ?? []))
  const rows = [...page.text.matchAll(/^\| ([A-Z]{1,2}\d+) \|/gm)].map(([, row = '']) => row)
  return rows.filter((row) => !tested.has(row)).map((row) => `${page.path}: no test names ${row}`)
}

/** Each vendor must have a folder of JSON fixtures, each saying whether it was recorded or documented. */
export function vendorsHaveFixtures(ids: readonly string[], files: readonly TreeFile[]): string[] {
  return ids.flatMap((id) => {
    const folder = `test/fixtures/vendors/${id}/`
    const fixtures = files.filter(({ path }) => path.startsWith(folder) && path.endsWith('.json'))
    if (fixtures.length === 0) return [`${folder}: no fixture for the vendor ${id}`]
    return fixtures
      .filter(({ text }) => !hasSource(text))
      .map(({ path }) => `${path}: no "source" of "recorded" or "documented"`)
  })
}

function hasSource(text: string): boolean {
  const fixture: unknown = JSON.parse(text)
  if (typeof fixture !== 'object' || fixture === null || !('source' in fixture)) return false
  return fixture.source === 'recorded' || fixture.source === 'documented'
}

/** Relative links in Markdown must lead to a file or folder of the tree. */
export function linksResolve(files: readonly TreeFile[]): string[] {
  const known = new Set(files.flatMap(({ path }) => withFolders(path)))
  return files
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap(({ path, text }) => {
      const prose = text.replaceAll(/```[\s\S]*?```|`[^`\n]+`/g, '')
      return [...prose.matchAll(/\]\(<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s+(\S+)/gm)]
        .map((match) => match[1] ?? match[2] ?? '')
        .filter((link) => !/^([a-z][a-z+.-]*:|#)/i.test(link))
        .map((link) => link.replace(/#.*$/, ''))
        .filter((link) => {
          const target = posix.join(posix.dirname(path), decodeURIComponent(link))
          return !known.has(target.replace(/\/$/, ''))
        })
        .map((link) => `${path}: the link ${link} leads nowhere`)
    })
}

/** Every path below src/, test/, scripts/ and bench/ that a page names in code type must exist. */
export function namedPathsExist(page: TreeFile, files: readonly TreeFile[]): string[] {
  const known = new Set(files.flatMap(({ path }) => withFolders(path)))
  const named = page.text.match(/\b(?:src|test|scripts|bench)\/[\w./-]*\w/g) ?? []
  return [...new Set(named)]
    .filter((path) => !known.has(path))
    .map((path) => `${page.path}: ${path} does not exist`)
}

function withFolders(path: string): string[] {
  const parts = path.split('/')
  return parts.map((_, index) => parts.slice(0, index + 1).join('/')).concat('.')
}
