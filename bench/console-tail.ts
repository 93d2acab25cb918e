// Measures what ten consoles that follow the live tail cost requests: `bun bench/console-tail.ts [ROUNDS] [SECONDS]`.
// Windows with and without them alternate in one process, with the built-in vendor. Server on core 0, the rest on core 1.

import { execFileSync } from 'node:child_process'
import { type ServerProcess, startServer } from '../test/support/server-process.ts'
import { cpuUs, guardProcess, rssMb } from './processes.ts'

const consoles = 10
const connections = 32
const warmUpMs = 10_000
/** Pause before a window is measured, so that all streams have been opened or closed. */
const settleMs = 500
/** How often the page asks for running requests while there are any. */
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

/** Signs in as a separate administrator, since one account may not have ten streams. Returns the session's cookie. */
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

/** What an open page Requests asks for: the stream of rows, and each second the running requests. */
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

/** One window of requests; `cookies`: those of the consoles that follow meanwhile. */
async function round(
  { url, pid }: ServerProcess,
  key: string,
  cookies: readonly string[],
  ms: number,
): Promise<Round> {
  const end = new AbortController()
  const followers = cookies.map((cookie) => follow(url, cookie, end.signal))
  try {
    await load(url, key, settleMs)
    const before = cpuUs(pid)
    const answered = await load(url, key, ms)
    const spent = cpuUs(pid) - before
    const memory = rssMb(pid)
    end.abort()
    const rows = (await Promise.all(followers)).reduce((sum, count) => sum + count, 0)
    return { perSecond: answered / (ms / 1_000), cpuUs: spent / answered, rssMb: memory, rows }
  } finally {
    end.abort()
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN
}

const [rounds = '10', seconds = '3'] = process.argv.slice(2)
guardProcess()
const server = await startServer(undefined, { under: ['taskset', '-c', '0'] })
const measured: Record<number, Round[]> = { 0: [], [consoles]: [] }
try {
  const key = /sk-tg-\w+/.exec(server.stdout)?.[0] ?? ''
  command(server.dataDir, 'account', 'credit', 'default', '100000', '--reason', 'bench')
  const cookies: string[] = []
  for (let index = 0; index < consoles; index++)
    cookies.push(await signIn(server, `operator-${index}`))
  await load(server.url, key, warmUpMs)
  for (let index = 0; index < Number(rounds); index++) {
    for (const following of index % 2 === 0 ? [0, consoles] : [consoles, 0]) {
      const one = await round(server, key, cookies.slice(0, following), Number(seconds) * 1_000)
      measured[following]?.push(one)
      console.log(
        `${following} consoles: ${one.perSecond.toFixed(0)} requests/s, ${one.cpuUs.toFixed(1)} us/request, ${one.rssMb.toFixed(0)} MB, ${one.rows} rows sent`,
      )
    }
  }
} finally {
  await server.kill()
  server.remove()
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
