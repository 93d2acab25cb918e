// Tests that the console's own files keep the length limits of the rest of the project.

import { beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { parseSources, readTree, type Source } from './tidy/source.ts'
import {
  filesAreShort,
  filesSayWhatTheyAre,
  functionsAreShort,
  shapesAreSmall,
} from './tidy/style.ts'

/** Without generated files. */
const own = /^console\/(src|scripts)\/(?!api\/schema\.d\.ts)/
let sources: Source[]

beforeAll(async () => {
  const files = readTree(join(import.meta.dir, '..'))
  sources = await parseSources(files.filter(({ path }) => own.test(path)))
})

for (const rule of [functionsAreShort, filesAreShort, filesSayWhatTheyAre, shapesAreSmall]) {
  test(`the console: ${rule.name}`, () => {
    expect(sources.map(({ path }) => path)).toContain('console/src/main.tsx')
    expect(rule(sources)).toEqual([])
  })
}
