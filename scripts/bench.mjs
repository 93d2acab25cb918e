// Runs the benchmarks with the given arguments (`npm run bench -- ...`); `scale` is a separate one that uses PostgreSQL.
import { spawnSync } from 'node:child_process'
import { startPostgres } from './postgres.mjs'
import { bun, root, setupOrExit } from './setup.mjs'

setupOrExit({ development: true })
const given = process.argv.slice(2)
if (given[0] === 'scale') {
  const { url, stop } = await startPostgres()
  process.exitCode = run('bench/scale.ts', given.slice(1), { DATABASE_URL: url })
  await stop()
} else {
  process.exitCode = run('bench/main.ts', given, {})
}

function run(program, words, env) {
  const ended = spawnSync(bun, ['--no-orphans', program, ...words], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
  return ended.status ?? 1
}
