// What CI runs: the check, and every test.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dir, '..')

test('CI runs the check and all tests', () => {
  const text = readFileSync(join(root, '.ci/run'), 'utf8')
  expect(text).toContain('npm run check')
  expect(text).toContain('node scripts/test.mjs --all')
})
