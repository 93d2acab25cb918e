// Tests which node's configuration file sets a model's price if files disagree: real servers on one ledger.

import { afterEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { eventually } from '../support/clients.ts'
import { runCommand } from '../support/command-line.ts'
import {
  chat,
  type Deployment,
  deploy,
  engineCases,
  keyOf,
  postgresCases,
} from '../support/deployment.ts'
import { briefly } from '../support/long.ts'
import { parsePrometheus } from '../support/prometheus.ts'
import type { ServerProcess } from '../support/server-process.ts'

const model = 'sandbox/chat'
let deployment: Deployment
afterEach(() => deployment.remove())

/** The file of a node that charges this much for a million tokens of input. */
function file(name: string, input: string | null, more: object = {}): string {
  const path = join(dirname(deployment.configFile), `${name}.yaml`)
  const models = input === null ? {} : { [model]: { prices: { input, output: '0' } } }
  const keys = [{ name: 'ann', account: 'ann', secret: keyOf('ann') }]
  const accounts = { ann: { credit: '100' } }
  writeFileSync(path, JSON.stringify({ models, keys, accounts, ...more }))
  return path
}

const begin = (node: number, path: string) => deployment.start({ node, words: ['--config', path] })

/** The price of a million tokens of input at this server, by the card that its request was charged by. */
async function asked(server: ServerProcess): Promise<number> {
  const requestId = await eventually(async () => {
    const { requestId, status } = await chat(server.url, 'ann', { model })
    // A busy host may be behind with settling, and says so: the caller tries again.
    if (status === 503) return undefined
    expect(status).toBe(200)
    return requestId
  }, 15_000)
  for (;;) {
    const rows = await deployment.store.usage.list({ limit: 1_000 })
    const row = rows.find((each) => each.requestId === requestId)
    if (row === undefined) continue
    const cards = await deployment.store.prices.all()
    const prices = cards.find(({ version }) => version === row.priceVersion)?.prices ?? {}
    const [input = Number.NaN, output = Number.NaN] = [prices['input'], prices['output']].map(
      Number,
    )
    const nano = (row.input * input + row.output * output) * 1_000
    expect(Number(row.chargeNano)).toBe(Math.ceil(Number(nano.toFixed(6))))
    return input
  }
}

async function readiness({ url }: ServerProcess) {
  const reply = await fetch(`${url}/readyz`)
  const { warnings } = (await reply.json()) as { warnings?: string[] }
  return { status: reply.status, warnings }
}

async function conflictsOf({ url }: ServerProcess): Promise<number> {
  const samples = parsePrometheus(await (await fetch(`${url}/metrics`)).text())
  return samples.find(({ name }) => name === 'tollgate_price_conflicts')?.value ?? Number.NaN
}

const filed = async () =>
  (await deployment.store.prices.all())
    .filter((row) => row.origin === 'file' && row.model === model)
    .map(({ prices }) => prices['input'] ?? null)

const cli = (...words: string[]) => {
  const url = deployment.databaseUrl
  const env = url === null ? {} : { DATABASE_URL: url }
  const data = ['--data', deployment.dataDir()]
  return runCommand([...words, ...data], dirname(deployment.configFile), { USER: 'op', ...env })
}

describe.each(briefly(1, engineCases))('one node on $engine', ({ databaseUrl }) => {
  test('its edited file counts from its next start, back to an earlier price too', async () => {
    deployment = await deploy({ databaseUrl, credits: { ann: '100' } })
    for (const price of ['0.15', '0.2', '0.15', null]) {
      const server = await begin(0, file('own', price))
      expect(await conflictsOf(server)).toBe(0)
      // Without a price in the file, the shipped one applies.
      expect(await asked(server)).toBe(price === null ? 0.5 : Number(price))
      await server.kill()
    }
    expect(await filed()).toEqual(['0.15', '0.2', '0.15', null])
  })

  test('what a command applied stays until the file is edited after it', async () => {
    deployment = await deploy({ databaseUrl, credits: { ann: '100' } })
    const own = file('own', '0.15')
    await (await begin(0, own)).kill()
    const other = file('other', '0.2')
    const shown = await cli('config', 'check', other)
    expect(shown.out).toContain(
      `${model}: the file has input 0.2, output 0; what counts is input 0.15, output 0 (version`,
    )
    const applied = await cli('price', 'apply', '--config', other, '--json')
    expect(JSON.parse(applied.out)).toMatchObject([{ model, prices: { input: '0.2' } }])
    const left = await begin(0, own)
    await left.said('differ from later ones')
    expect(left.stdout).toContain('Warning')
    expect(await asked(left)).toBe(0.2)
    await left.kill()
    const agreed = await begin(0, file('own', '0.2'))
    expect(agreed.stdout).not.toContain('Warning')
    await agreed.kill()
    const edited = await begin(0, file('own', '0.3'))
    expect(await asked(edited)).toBe(0.3)
    const slip = await cli('price', 'apply', '--config', file('slip', '30'))
    expect([slip.code, slip.err]).toEqual([1, expect.stringContaining('--allow-large applies it')])
    expect(await asked(edited)).toBe(0.3)
  })

  test('of a price that a command set and one of the file the file has the last word', async () => {
    deployment = await deploy({ databaseUrl, credits: { ann: '100' } })
    await (await begin(0, file('own', '0.15'))).kill()
    await cli('price', 'set', model, 'input=0.4', 'output=0.4')
    const server = await begin(0, file('own', '0.2'))
    expect(await asked(server)).toBe(0.2)
  })
})

describe.each(briefly(1, postgresCases))('several nodes on $engine', ({ databaseUrl }) => {
  test('a node with a stale file says so and charges what the others do', async () => {
    deployment = await deploy({ databaseUrl, credits: { ann: '100' } })
    const [first, second] = [await begin(0, file('a', '0.15')), await begin(1, file('b', '0.15'))]
    for (const path of [file('stale', '15'), file('bare', null)]) {
      const stale = await begin(2, path)
      await stale.said('differ from later ones')
      expect(stale.stdout).toContain('Warning  prices of the configuration file are not in force')
      expect(await conflictsOf(stale)).toBe(1)
      const ready = await readiness(stale)
      expect(ready.status).toBe(200)
      expect(ready.warnings?.[0]).toContain(model)
      for (const server of [first, second, stale]) expect(await asked(server)).toBe(0.15)
      await stale.kill()
    }
    // Likewise for a node that was up to date and is started again with another file.
    await second.kill()
    const again = await begin(1, file('b', '15'))
    for (const server of [first, again]) expect(await asked(server)).toBe(0.15)
    expect(await filed()).toEqual(['0.15'])
    expect(await conflictsOf(first)).toBe(0)
  })

  test('a raised revision counts at once for all, and nodes are started with it one by one', async () => {
    deployment = await deploy({ databaseUrl, credits: { ann: '100' } })
    const old = [await begin(0, file('a', '0.15')), await begin(1, file('b', '0.15'))]
    const next = file('next', '0.3', { priceRevision: 1 })
    await old[0]?.kill()
    const first = await begin(0, next)
    expect(await asked(first)).toBe(0.3)
    const [, second] = old
    if (second === undefined) throw new Error('not started')
    await eventually(async () => (await conflictsOf(second)) > 0 || undefined)
    expect(await asked(second)).toBe(0.3)
    await second.said('differ from later ones')
    await second.kill()
    const rolled = await begin(1, next)
    expect(await conflictsOf(rolled)).toBe(0)
    // An earlier price is restored the same way; the old file alone does not restore it.
    await first.kill()
    const back = await begin(0, file('a', '0.15'))
    expect(await asked(back)).toBe(0.3)
    await back.kill()
    const wanted = await begin(0, file('a', '0.15', { priceRevision: 2 }))
    expect(await asked(wanted)).toBe(0.15)
    expect(await filed()).toEqual(['0.15', '0.3', '0.15'])
  })

  test('of two that start at once with different files one is heard, and the other says so', async () => {
    deployment = await deploy({ databaseUrl, credits: { ann: '100' } })
    const servers = await Promise.all([begin(0, file('a', '0.15')), begin(1, file('b', '15'))])
    const prices = await filed()
    expect(prices).toHaveLength(1)
    const conflicts = await Promise.all(servers.map(conflictsOf))
    expect(conflicts.toSorted()).toEqual([0, 1])
    for (const server of servers) expect(await asked(server)).toBe(Number(prices[0]))
  })
})
