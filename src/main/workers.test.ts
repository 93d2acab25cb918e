// Tests how workers are kept running, with small programs in their place.

import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../../test/support/clients.ts'
import type { LogFields } from '../telemetry/log.ts'
import { StartError } from './start-error.ts'
import { checkPlatform } from './supervise.ts'
import type { Ready } from './worker.ts'
import { startWorkers } from './workers.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-workers-'))
afterAll(() => rmSync(folder, { recursive: true }))

const untilStopped = `process.on('message', ({ stops }) => process.exit(stops === 1 ? 0 : 4));`
const serve = `process.send({ url: 'http://a', port: 7, secret: null, signInLink: null, model: null, warnings: [] });`

/** Starts two workers, each with a separate program, and notes what is logged. */
function start(first: string, second: string) {
  const script = join(folder, `worker-${Bun.randomUUIDv7()}.mjs`)
  const program = `setInterval(() => {}, 1e6); if (process.env.TOLLGATE_WORKER === '0') { ${first} } else { ${second} }`
  writeFileSync(script, program)
  const ended = Promise.withResolvers<number>()
  const logged: LogFields[] = []
  const readies: Ready[] = []
  const note = (fields: LogFields) => void logged.push(fields)
  const workers = startWorkers({
    count: 2,
    port: 0,
    command: (port) => [script, String(port)],
    env: process.env,
    log: { info: note, error: note },
    whyNot: async () => null,
    onReady: (ready) => void readies.push(ready),
    onEnd: ended.resolve,
  })
  return { workers, ended: ended.promise, logged, readies }
}

test('the second worker gets the port the first has found; all ready is told once', async () => {
  const second = `if (process.argv[2] !== '7') process.exit(9); ${untilStopped} ${serve}`
  const { workers, ended, readies, logged } = start(untilStopped + serve, second)
  await eventually(() => (readies.length > 0 ? true : undefined))
  expect(readies).toEqual([
    { url: 'http://a', port: 7, secret: null, signInLink: null, model: null, warnings: [] },
  ])
  workers.stop()
  expect(await ended).toBe(0)
  expect(logged).toEqual([])
})

test('one that ends again and again waits longer each time', async () => {
  const { workers, ended, logged } = start(
    untilStopped + serve,
    `${serve} setTimeout(() => process.exit(3), 50)`,
  )
  const ends = await eventually(() => {
    const found = logged.filter(({ code }) => code === 3)
    return found.length === 4 ? found : undefined
  }, 10_000)
  expect(ends.map(({ worker, delayMs }) => [worker, delayMs])).toEqual([
    [1, 0],
    [1, 200],
    [1, 400],
    [1, 800],
  ])
  workers.stop()
  expect(await ended).toBe(0)
})

test('one that ends before all have served ends them all, with 1', async () => {
  const { ended, readies } = start(untilStopped + serve, 'process.exit(3)')
  expect(await ended).toBe(1)
  expect(readies).toEqual([])
})

test('one that stops badly is told of, and the end is 1', async () => {
  const bad = `process.on('message', () => process.exit(5)); ${serve}`
  const { workers, ended, readies, logged } = start(untilStopped + serve, bad)
  await eventually(() => (readies.length > 0 ? true : undefined))
  workers.stop()
  expect(await ended).toBe(1)
  expect(logged).toMatchObject([{ worker: 1, code: 5 }])
})

test('each stop is passed on', async () => {
  const twice = `process.on('message', ({ stops }) => { if (stops === 2) process.exit(0) }); ${serve}`
  const { workers, ended, readies } = start(twice, twice)
  await eventually(() => (readies.length > 0 ? true : undefined))
  workers.stop()
  workers.stop()
  expect(await ended).toBe(0)
})

test('a stop while they start ends them', async () => {
  const { workers, ended } = start('', '')
  workers.stop()
  expect(await ended).toBe(0)
})

test('a reload reaches one that was starting when it came', async () => {
  const [began, received] = [join(folder, 'began'), join(folder, 'heard')]
  const note = (path: string) => `require('node:fs').writeFileSync(${JSON.stringify(path)}, '');`
  const hears = `process.on('SIGHUP', () => { ${note(received)} }); ${untilStopped} ${serve}`
  const { workers, ended } = start(
    `process.on('SIGHUP', () => {}); ${untilStopped} ${serve}`,
    `${note(began)} setTimeout(() => { ${hears} }, 200)`,
  )
  await eventually(() => (existsSync(began) ? true : undefined))
  workers.reload()
  await eventually(() => (existsSync(received) ? true : undefined))
  workers.stop()
  expect(await ended).toBe(0)
})

test('only Linux divides the connections to one port', () => {
  expect(() => checkPlatform('darwin')).toThrow(StartError)
  expect(() => checkPlatform('win32')).toThrow('need Linux')
  expect(() => checkPlatform('linux')).not.toThrow()
})
