// Runs the benchmarks with the arguments given (`npm run bench -- ...`).
import { spawnSync } from 'node:child_process'
import { bun, root, setupOrExit } from './setup.mjs'

setupOrExit({ development: true })
const run = spawnSync(bun, ['--no-orphans', 'bench/main.ts', ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
})
process.exit(run.status ?? 1)
