// What CI runs: every test, briefly and at length.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dir, '..')

test('CI runs all tests, briefly and at length', () => {
  const text = readFileSync(join(root, '.ci/run'), 'utf8')
  expect(text).toContain('for script in test test:long; do')
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expect(scripts).toMatchObject({
    test: 'node scripts/test.mjs',
    'test:long': 'node scripts/test.mjs --long',
  })
})
