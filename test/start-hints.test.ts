// Tests that the commands which a start prints can be run as they are, in any folder.

import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from './contract/databases.ts'
import { startServer } from './support/server-process.ts'

test('the commands of a start are on its own data and configuration', async () => {
  const scratch = makeDirectory()
  const folder = join(scratch.path, "an operator's")
  mkdirSync(folder)
  const file = join(folder, 'c.yaml')
  const channel = '{ id: a, vendor: openai, key: k, models: [unpriced-model] }'
  writeFileSync(file, `channels: [${channel}]\n`)
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir)
  const words = ['--config', file]
  await (await startServer(dataDir, { words })).kill()
  const { stdout, kill } = await startServer(dataDir, { words })
  await kill()

  const create = /or: (\S+ key create .*)/.exec(stdout)?.[1] ?? ''
  expect(run(`${create} --json`)).toMatchObject({ code: 0, out: expect.stringContaining('sk-') })
  const check = /says more: (\S+ config check .*)\. Then/.exec(stdout)?.[1] ?? ''
  expect(run(`${check} 2>&1`).out).toContain('unpriced-model')
  scratch.remove()
})

function run(line: string) {
  const { exitCode, stdout } = Bun.spawnSync(['sh', '-c', line], {
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '' },
  })
  return { code: exitCode, out: stdout.toString() }
}
