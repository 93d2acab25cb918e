// Format, lint, types, the tidy test and the console's own check (`npm run check`): runs every step and names those that failed.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { setupConsole } from './console.mjs'
import { bun, orExit, root, setup } from './setup.mjs'

orExit(() => {
  setup({ development: true })
  setupConsole({ development: true })
})

const tool = (name) => join(root, 'node_modules/.bin', name)
const steps = [
  ['format and lint', tool('biome'), ['check', '--error-on-warnings', '.']],
  ['types', tool('tsc'), ['--noEmit']],
  ['tidy', bun, ['test', '--timeout', '60000', './test/tidy.test.ts']],
  ['console', bun, ['scripts/check.mjs'], 'console'],
]

const failed = steps.filter(([name, command, args, folder = '.']) => {
  const { status } = spawnSync(command, args, { cwd: join(root, folder), stdio: 'inherit' })
  console.log(`${name}: ${status === 0 ? 'ok' : 'FAILED'}`)
  return status !== 0
})
if (failed.length > 0) {
  console.log(`check failed: ${failed.map(([name]) => name).join(', ')}`)
  process.exit(1)
}
