// Tests that the code with which this process answers the control API is loaded with its first request.

import { expect, test } from 'bun:test'
import { join } from 'node:path'

test('a server that only relays holds nothing of models and channels as operators see them', () => {
  const main = join(import.meta.dirname, '../main.ts')
  const script = `await import(${JSON.stringify(main)}); console.log(JSON.stringify(Object.keys(require.cache)))`
  const { stdout } = Bun.spawnSync([process.execPath, '-e', script])
  const loaded: readonly string[] = JSON.parse(stdout.toString())
  expect(loaded).toContain(join(import.meta.dirname, 'control.ts'))
  const later =
    /src\/(main\/running|admin\/(models|offer|channels|probe|settings)|wire\/dialects)\.ts$/
  expect(loaded.filter((path) => later.test(path))).toEqual([])
})
