// Tests that CI runs the check and every test.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dir, '..')

test('CI runs the check and all tests', () => {
  const text = readFileSync(join(root, '.ci/run'), 'utf8')
  expect(text).toContain('npm run check')
  expect(text).toContain('node scripts/test.mjs --all')
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expect(scripts).toMatchObject({
    test: 'node scripts/test.mjs',
    'test:long': 'node scripts/test.mjs --long',
    'test:all': 'node scripts/test.mjs --all',
  })
})
