// What the console must pass: API types not stale, TypeScript, texts complete in every language, colours, build and its
// sizes.

import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const root = fileURLToPath(new URL('..', import.meta.url))
const most = { initialScript: 180_000, initialStyle: 25_000, lazyRoute: 90_000 }

const hues =
  'slate|gray|zinc|neutral|stone|red|orange|amber|yellow|lime|green|emerald|teal|cyan|sky|blue|indigo|violet|purple|fuchsia|pink|rose'
const foreignColour = new RegExp(
  `[\\s"'\`:](?:[a-z]+-)+(?:white|black|(?:${hues})-\\d+)(?=[\\s"'\`/])`,
  'g',
)

const steps = [
  ['API types', run('scripts/types.mjs', '--check')],
  ['types', run('node_modules/typescript/bin/tsc', '--noEmit')],
  ['texts in step with the sources', run('node_modules/.bin/lingui', 'check', 'sync', '--clean')],
  ['texts translated', run('node_modules/.bin/lingui', 'check', 'missing', '--mode', 'catalog')],
  ['texts alike everywhere', alike],
  ['colours of the theme alone', colours],
  ['build', run('../scripts/console.mjs')],
  ['sizes', sizes],
]

const failed = steps.filter(([name, step]) => {
  const isOk = step()
  console.log(`console, ${name}: ${isOk ? 'ok' : 'FAILED'}`)
  return !isOk
})
if (failed.length > 0) process.exit(1)

/** Under Bun, so that it does not matter which Node is there. */
function run(...args) {
  return () => {
    const options = { cwd: root, encoding: 'utf8' }
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--bun', ...args], options)
    if (status !== 0) console.log(`${stdout}${stderr}`)
    return status === 0
  }
}

/** A text has one translation: catalogues are merged as pages load, so the last would win. */
function alike() {
  const seen = new Map()
  const faults = []
  for (const path of globSync('src/**/locales/zh-CN.po', { cwd: root })) {
    const entries = readFileSync(join(root, path), 'utf8').matchAll(
      /^msgid (".+")\nmsgstr (".*")/gm,
    )
    for (const [, text, translation] of entries) {
      const other = seen.get(text)
      if (other !== undefined && other !== translation)
        faults.push(`${path}: ${text} is ${translation}, elsewhere ${other}`)
      else seen.set(text, translation)
    }
  }
  for (const fault of faults) console.log(fault)
  return faults.length === 0
}

/** The theme replaces Tailwind's palette: a class that names a colour of that one has no effect. */
function colours() {
  const faults = globSync('src/**/*.{ts,tsx}', { cwd: root }).flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(foreignColour)].map(
      ([name]) => `${path}: ${name.slice(1)} is no colour of src/styles.css`,
    ),
  )
  for (const fault of faults) console.log(fault)
  return faults.length === 0
}

/** Gzipped bytes of what the first page loads, and of what each page loads beyond that. */
function sizes() {
  const manifest = JSON.parse(readFileSync(join(root, 'dist/manifest.json'), 'utf8'))
  const first = reach(manifest, 'index.html', new Set())
  const initialScript = sum([...first].map((key) => manifest[key].file))
  const initialStyle = sum([...first].flatMap((key) => manifest[key].css ?? []))
  const pages = Object.keys(manifest)
    .filter((key) => manifest[key].isDynamicEntry && !key.endsWith('.po'))
    .map((key) => [key, sum([...reach(manifest, key, first)].map((name) => manifest[name].file))])
    .sort(([, one], [, other]) => other - one)
  console.log(`  first load: ${initialScript} B of scripts, ${initialStyle} B of styles (gzip)`)
  for (const [key, bytes] of pages.slice(0, 3)) console.log(`  ${key}: ${bytes} B more`)
  return (
    initialScript <= most.initialScript &&
    initialStyle <= most.initialStyle &&
    pages.every(([, bytes]) => bytes <= most.lazyRoute)
  )
}

/** An entry of the manifest and what it imports at once, without what is `there` already. */
function reach(manifest, key, there, found = new Set()) {
  if (there.has(key) || found.has(key)) return found
  found.add(key)
  for (const name of manifest[key].imports ?? []) reach(manifest, name, there, found)
  return found
}

function sum(files) {
  return [...new Set(files)].reduce(
    (bytes, file) => bytes + gzipSync(readFileSync(join(root, 'dist', file)), { level: 9 }).length,
    0,
  )
}
