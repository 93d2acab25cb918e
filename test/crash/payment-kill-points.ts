// Loaded into a gateway before its own code: makes every await on the way of a payment a point at which it may be
// killed. The folder `KILL_POINTS` contains the file `armed` while a test is active, with the point to be killed at or
// nothing; `passed` has the points passed since, one per line: the position of the await, and how often it has been
// passed.

import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { plugin } from 'bun'

const folder = Bun.env['KILL_POINTS'] ?? ''
const source = join(import.meta.dir, '..', '..', 'src')
const instrumented =
  /\/src\/(payments\/\w+|store\/(payment[\w-]*|journal|wallets)|admin\/orders|http\/control\/(app|routes\/orders))\.ts$/
const threadEntry = "new URL('./thread-main.ts', import.meta.url)"

function armed(): string | null {
  try {
    return readFileSync(join(folder, 'armed'), 'utf8')
  } catch {
    return null
  }
}

function pass(place: string): void {
  const wanted = armed()
  if (wanted === null) return
  const passed = readFileSync(join(folder, 'passed'), 'utf8')
  const point = `${place} ${passed.split(`${place} `).length}`
  appendFileSync(join(folder, 'passed'), `${point}\n`)
  if (wanted === point) process.kill(process.pid, 'SIGKILL')
}

/** `await x` becomes `await pass(PLACE) || await x`; `pass` returns nothing. */
function withPoints(path: string, text: string): string {
  const name = path.slice(source.length + 1)
  return text
    .split('\n')
    .map((line, index) => {
      if (/^\s*(\/\/|\/?\*)/.test(line)) return line
      const point = (at: number) => `await killPoint('${name}:${index + 1}:${at}') || await `
      return line.replace(/(?<!for )\bawait /g, (_, at: number) => point(at))
    })
    .join('\n')
}

Object.assign(globalThis, { killPoint: pass })

plugin({
  name: 'kill points',
  setup(build) {
    build.onLoad({ filter: instrumented }, async ({ path }) => ({
      contents: withPoints(path, await Bun.file(path).text()),
      loader: 'ts',
    }))
    // A thread has separate plug-ins, so it starts with this file.
    build.onLoad({ filter: /\/src\/store\/thread\.ts$/ }, async ({ path }) => {
      const text = await Bun.file(path).text()
      if (!text.includes(threadEntry)) throw new Error(`${path} starts its thread in another way`)
      return { contents: text.replace(threadEntry, JSON.stringify(import.meta.path)), loader: 'ts' }
    })
  },
})

if (!Bun.isMainThread) await import(join(source, 'store', 'thread-main.ts'))
