// Tests three nodes under load while PostgreSQL is restarted, and while its standby takes over: answered requests are
// charged once.

import { describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { type PostgresServer, startPostgres } from '../../scripts/postgres.mjs'
import { auditLedger } from '../../src/admin/audit.ts'
import { expectCharged, ready, startLoad } from '../crash/gateway-load.ts'
import { eventually } from '../support/clients.ts'
import { expectBalances, ownPostgresCases } from '../support/deployment.ts'
import { repetitions } from '../support/long.ts'
import { type Proxy, startProxy } from '../support/proxy.ts'
import type { Fault } from './faults.ts'
import { breakAgainAndAgain, expectBooks } from './run.ts'
import { credits, creditsNano, openStage, type Stage } from './stage.ts'

/** A server whose commits its standby also has, and the address at which the present primary is reached. */
class Pair {
  readonly way: Proxy
  #primary: PostgresServer
  #standby: PostgresServer
  #ended: PostgresServer[] = []

  private constructor(primary: PostgresServer, standby: PostgresServer, way: Proxy) {
    this.#primary = primary
    this.#standby = standby
    this.way = way
  }

  /** A commit counts only when the standby has it on its disk, also after a takeover, since the setting is copied. */
  static async start(): Promise<Pair> {
    const primary = await startPostgres()
    const sql = new SQL(primary.url, { max: 1 })
    await sql.unsafe("ALTER SYSTEM SET synchronous_standby_names = '*'")
    // How soon it comes back after its primary was restarted; 5 s unless set.
    await sql.unsafe("ALTER SYSTEM SET wal_retrieve_retry_interval = '100ms'")
    const standby = await primary.standby()
    await sql.unsafe('SELECT pg_reload_conf()')
    await sql.close()
    const pair = new Pair(primary, standby, await startProxy(primary.url))
    await pair.#standbyIsWaitedFor()
    return pair
  }

  get url(): string {
    return this.way.through(this.#primary.url)
  }

  async restart(signal: 'INT' | 'QUIT'): Promise<void> {
    await this.#primary.end(signal)
    await this.#primary.start()
    await this.#standbyIsWaitedFor()
  }

  /** The primary dies, the standby replaces it and gets a new standby. */
  async failOver(): Promise<void> {
    await this.#primary.end('KILL')
    this.#ended.push(this.#primary)
    this.#standby.promote()
    this.#primary = this.#standby
    this.way.restore(this.#primary.url)
    this.way.breakAll()
    this.#standby = await this.#primary.standby()
    await this.#standbyIsWaitedFor()
  }

  async stop(): Promise<void> {
    await this.way.close()
    for (const server of [...this.#ended, this.#standby, this.#primary]) await server.stop()
  }

  /** Until then, commits are lost with a primary that dies. */
  #standbyIsWaitedFor(): Promise<void> {
    return eventually(async () => {
      const sql = new SQL(this.#primary.url, { max: 1 })
      const [found] = await sql`SELECT sync_state FROM pg_stat_replication`
      await sql.close()
      return found?.sync_state === 'sync' || undefined
    }).then(() => undefined)
  }
}

const allReady = async ({ nodes }: Stage) => {
  for (const { server } of nodes) await ready(server)
}

function faultsOf(pair: Pair): [name: string, fault: Fault][] {
  const restarts = (['INT', 'QUIT'] as const).map((signal): [string, Fault] => [
    `PostgreSQL is restarted, ${signal === 'INT' ? 'fast' : 'immediate'}`,
    async (stage, _, served) => {
      await pair.restart(signal)
      await served()
      await allReady(stage)
    },
  ])
  const takeOver: Fault = async (stage, _, served) => {
    await pair.failOver()
    await served()
    await allReady(stage)
  }
  return [...restarts, ['the standby takes over', takeOver]]
}

describe.each(ownPostgresCases)('three nodes on a pair of $engine', () => {
  test('restarts and a standby that takes over lose nothing that was acknowledged', async () => {
    const pair = await Pair.start()
    const stage = await openStage(pair.url, Math.random)
    try {
      const faults = faultsOf(pair)
      const rounds = Array.from({ length: repetitions(1, 5, 3) }, () => faults).flat()
      await expectBooks(stage, await breakAgainAndAgain(stage, rounds))
    } finally {
      await stage.close()
      await pair.stop()
    }
  }, 280_000)

  test('a standby that nothing waits for takes over without the last commits, and the audit names each record', async () => {
    const primary = await startPostgres()
    const standby = await primary.standby()
    const way = await startProxy(primary.url)
    const stage = await openStage(way.through(primary.url), Math.random)
    const { deployment } = stage
    const load = startLoad(stage.url, Object.keys(credits), 18, { goesOn: true })
    const answered = () => load.seen.filter(({ status, whole }) => status === 200 && whole)
    const more = (count: number) => {
      const until = answered().length + count
      return eventually(() => answered().length >= until || undefined, 60_000)
    }
    try {
      await more(100)
      await standby.end('INT')
      await more(300)
      await primary.end('KILL')
      await standby.start()
      standby.promote()
      way.restore(standby.url)
      way.breakAll()
      await allReady(stage)
      await more(300)
      await load.stop()
      for (const { server } of stage.nodes) {
        server.signal('SIGTERM')
        expect(await server.exited).toBe(0)
      }
      const rows = await expectBalances(deployment, creditsNano)
      const known = new Set(rows.map(({ requestId }) => requestId))
      const kept = answered().filter(({ requestId }) => known.has(requestId))
      const lost = answered().length - kept.length
      expect(lost).toBeGreaterThan(0)
      expectCharged(kept, rows)
      const { findings } = await auditLedger(deployment)
      const named = findings.map(({ kind, message }) => {
        const [, from, to] =
          /^records (\d+) to (\d+) never came into the ledger$/.exec(message) ?? []
        return kind === 'outbox' ? Number(to) - Number(from) + 1 : Number.NaN
      })
      expect(named.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(lost)
      console.log(`${answered().length} answered whole, ${lost} lost, records named: ${named}`)
    } finally {
      await load.stop()
      await stage.close()
      await way.close()
      await primary.stop()
      await standby.stop()
    }
  }, 120_000)
})
