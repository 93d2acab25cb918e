// Golden files: compared with the present results, written with TOLLGATE_WRITE_GOLDEN=1; a file without a case is an
// error.

import { expect } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

const root = new URL('../', import.meta.url)
const writes = process.env['TOLLGATE_WRITE_GOLDEN'] === '1'

/** The golden files of one kind: `<dialect>/<case>.<kind>`, such as `request.json`. */
export class GoldenFiles {
  private readonly kinds: readonly string[]
  private readonly held = new Set<string>()

  constructor(kinds: readonly string[]) {
    this.kinds = kinds
  }

  /** Fails if the file does not contain `text`; writes it if that was requested. */
  hold(dialect: string, name: string, kind: string, text: string): void {
    const path = `${dialect}/${name}.${kind}`
    this.held.add(path)
    if (writes) {
      mkdirSync(new URL(`${dialect}/`, root), { recursive: true })
      if (!existsSync(new URL(path, root)) || readGolden(path) !== text) {
        writeFileSync(new URL(path, root), text)
      }
    }
    if (!existsSync(new URL(path, root))) throw new Error(`${path} is missing`)
    expect(readGolden(path)).toBe(text)
  }

  /** Files of these kinds that no case used; removed when files are written. */
  astray(): string[] {
    const found = goldenPaths().filter(
      (path) => this.kinds.some((kind) => path.endsWith(`.${kind}`)) && !this.held.has(path),
    )
    if (!writes) return found
    for (const path of found) rmSync(new URL(path, root))
    return []
  }
}

export function readGolden(path: string): string {
  return readFileSync(new URL(path, root), 'utf8')
}

const others = new Set(['support', 'usage'])

/** `<dialect>/<file>` of all of them. */
export function goldenPaths(): string[] {
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !others.has(entry.name))
    .flatMap(({ name }) => readdirSync(new URL(`${name}/`, root)).map((file) => `${name}/${file}`))
}
