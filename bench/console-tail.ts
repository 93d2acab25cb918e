// What ten consoles that follow requests cost the requests: `bun bench/console-tail.ts [ROUNDS] [SECONDS]`. Rounds with
// and without them are interleaved, each on a new data directory, with the built-in vendor. Server on core 0, load and
// consoles on core 1.

import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ServerProcess, startServer } from '../test/support/server-process.ts'
import { cpuUs, guardProcess, rssMb, untilQuiet } from './processes.ts'

const consoles = 10
const connections = 32
const warmUpMs = 2_000
/** How often the page asks what runs, while something does. */
const runningEveryMs = 1_000

interface Round {
  readonly perSecond: number
  readonly cpuUs: number
  readonly rssMb: number
  /** Rows that the consoles were sent. */
  readonly rows: number
}

/** Calls the built-in vendor in a closed loop until the time is up; resolves with how many were answered. */
async function load(url: string, key: string, ms: number): Promise<number> {
  const until = performance.now() + ms
  const body = JSON.stringify({
    model: 'sandbox/chat',
    messages: [{ role: 'user', content: 'Hello' }],
  })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const loop = async () => {
    let answered = 0
    while (performance.now() < until) {
      const reply = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
      await reply.arrayBuffer()
      if (reply.status !== 200) throw new Error(`a request was answered with ${reply.status}`)
      answered += 1
    }
    return answered
  }
  const counts = await Promise.all(Array.from({ length: connections }, loop))
  return counts.reduce((sum, count) => sum + count, 0)
}

/** As an administrator of their own: one account may not follow from all ten. Gives the session's cookie. */
async function signIn({ url, dataDir }: ServerProcess, account: string): Promise<string> {
  command(dataDir, 'account', 'credit', account, '1', '--create', '--reason', 'bench')
  const said = command(dataDir, 'admin', 'link', '--account', account)
  const link = /\/api\/auth\/link\S+/.exec(said)?.[0]
  if (link === undefined) throw new Error(`no link in: ${said}`)
  const reply = await fetch(url + link, { redirect: 'manual' })
  return reply.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')
}

/** What an open page of Requests asks while it follows: the stream of rows, and each second what runs. */
async function follow(url: string, cookie: string, end: AbortSignal): Promise<number> {
  const stream = await fetch(`${url}/api/requests/live?most=50`, {
    headers: { cookie },
    signal: end,
  })
  if (stream.status !== 200 || stream.body === null)
    throw new Error(`a console was answered with ${stream.status}`)
  const asks = setInterval(() => {
    fetch(`${url}/api/requests/running`, { headers: { cookie }, signal: end })
      .then((reply) => reply.arrayBuffer())
      .catch(ignoreEnd)
  }, runningEveryMs)
  const decoder = new TextDecoder()
  let rows = 0
  try {
    for await (const bytes of stream.body)
      rows += decoder.decode(bytes, { stream: true }).split('event: request').length - 1
  } catch (error) {
    ignoreEnd(error)
  }
  clearInterval(asks)
  return rows
}

function ignoreEnd(error: unknown): void {
  if (!(error instanceof Error) || error.name !== 'AbortError') throw error
}

function command(dataDir: string, ...words: string[]): string {
  return execFileSync('bin/tollgate', [...words, '--data', dataDir], { encoding: 'utf8' })
}

async function round(following: number, ms: number): Promise<Round> {
  const server = await startServer(undefined, { under: ['taskset', '-c', '0'] })
  const end = new AbortController()
  try {
    const key = /sk-tg-\w+/.exec(server.stdout)?.[0] ?? ''
    command(server.dataDir, 'account', 'credit', 'default', '100000', '--reason', 'bench')
    // Whether or not anybody follows, the control API is loaded.
    await signIn(server, 'nobody')
    const followers = Array.from({ length: following }, async (_, index) =>
      follow(server.url, await signIn(server, `operator-${index}`), end.signal),
    )
    await load(server.url, key, warmUpMs)
    const before = cpuUs(server.pid)
    const answered = await load(server.url, key, ms)
    const memory = rssMb(server.pid)
    await untilQuiet(server.pid)
    const spent = cpuUs(server.pid) - before
    end.abort()
    const rows = (await Promise.all(followers)).reduce((sum, count) => sum + count, 0)
    const perSecond = answered / (ms / 1_000)
    return { perSecond, cpuUs: spent / answered, rssMb: memory, rows }
  } finally {
    end.abort()
    await server.kill()
    server.remove()
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN
}

const [rounds = '3', seconds = '8'] = process.argv.slice(2)
guardProcess()
const measured: Record<number, Round[]> = { 0: [], [consoles]: [] }
for (let index = 0; index < Number(rounds); index++) {
  const order = index % 2 === 0 ? [0, consoles] : [consoles, 0]
  for (const following of order) {
    const one = await round(following, Number(seconds) * 1_000)
    measured[following]?.push(one)
    console.log(
      `${following} consoles: ${one.perSecond.toFixed(0)} requests/s, ${one.cpuUs.toFixed(1)} us/request, ${one.rssMb.toFixed(0)} MB, ${one.rows} rows sent`,
    )
    await sleep(500)
  }
}
console.log('| consoles | requests/s | CPU, us/request | memory, MB |')
console.log('| --: | --: | --: | --: |')
for (const [following, all] of Object.entries(measured)) {
  const cell = (read: (round: Round) => number, digits: number) => {
    const values = all.map(read)
    return `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)}-${Math.max(...values).toFixed(digits)})`
  }
  console.log(
    `| ${following} | ${cell(({ perSecond }) => perSecond, 0)} | ${cell((each) => each.cpuUs, 1)} | ${cell((each) => each.rssMb, 0)} |`,
  )
}
