// Tests records that were in an outbox and never reached the ledger: the audit and a metric report them.

import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../support/clients.ts'
import { chat, type Deployment, deploy, engineCases } from '../support/deployment.ts'
import { briefly } from '../support/long.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { ready } from './gateway-load.ts'

const requests = 10
/** Limit for events that happen eventually: a busy host is slow. */
const patienceMs = 30_000
/**
 * The longest delay there is, so that nothing is settled before it is removed; a start and an end settle all the same.
 */
const config = { ledger: { settleMs: 10_000 } }

interface Left {
  readonly node: string
  readonly epoch: number
}

/**
 * Sends requests one after another until the mark says that all their records are written, in an epoch after `before`.
 */
async function serve(server: ServerProcess, before: number): Promise<Left> {
  await ready(server)
  for (let each = 0; each < requests; each += 1) {
    expect((await chat(server.url, 'acme', { model: 'sandbox/chat+tokens=3' })).status).toBe(200)
  }
  return await eventually(() => {
    const [node = '', epoch = '', number] = mark(server.dataDir)
    const isWritten = number === String(requests) && Number(epoch) > before
    return isWritten ? { node, epoch: Number(epoch) } : undefined
  }, patienceMs)
}

function mark(dataDir: string): string[] {
  return readFileSync(join(dataDir, 'outbox-0.mark'), 'utf8').trim().split(' ')
}

/** Each row is an append, and each of these requests is one append; those of one run are all in the first half. */
function removeRows(dataDir: string, from: number, to: number): void {
  const file = new Database(join(dataDir, 'outbox-0-a.db'))
  const newest = 'epoch = (SELECT max(epoch) FROM outbox)'
  const { changes } = file.run(
    `DELETE FROM outbox WHERE seq IN (
      SELECT seq FROM outbox WHERE ${newest} ORDER BY seq LIMIT ? OFFSET ?)`,
    [to - from + 1, from - 1],
  )
  file.close()
  expect(changes).toBe(to - from + 1)
}

async function findings(deployment: Deployment): Promise<string[]> {
  const report = await deployment.command('audit')
  return report.findings.map(
    (each: Record<string, string>) => `${each['kind']} ${each['subject']}: ${each['message']}`,
  )
}

describe.each(briefly(2, engineCases))(
  'an outbox without the file that names its node, the ledger on $engine',
  ({ databaseUrl }) => {
    test('is settled under its name, and no record of it is missed', async () => {
      const deployment = await deploy({ databaseUrl, credits: { acme: '10' }, config })
      try {
        const server = await deployment.start()
        const left = await serve(server, 0)
        await server.kill()
        rmSync(join(server.dataDir, 'outbox-0.db'))
        const next = await deployment.start()
        await ready(next)
        expect(await findings(deployment)).toEqual([])
        expect(await deployment.store.usage.list({ limit: 100 })).toHaveLength(requests)
        expect(await serve(next, left.epoch)).toEqual({ node: left.node, epoch: left.epoch + 1 })
        next.signal('SIGTERM')
        expect(await next.exited).toBe(0)
        expect(await findings(deployment)).toEqual([])
      } finally {
        await deployment.remove()
      }
    }, 60_000)
  },
)

describe.each(briefly(1, engineCases))(
  'records lost from an outbox, the ledger on $engine',
  ({ databaseUrl }) => {
    test('are named by node, epoch and number: from its middle, from its end, with a whole half, and while it runs', async () => {
      const deployment = await deploy({ databaseUrl, credits: { acme: '10' }, config })
      const expected: string[] = []
      const expectNamed = async ({ node, epoch }: Left, which: string) => {
        expected.push(`outbox ${node}/${epoch}: ${which} never came into the ledger`)
        expect(await findings(deployment)).toEqual(expected)
      }
      let before = 0
      const died = async (lose: (dataDir: string) => void | Promise<void>) => {
        const server = await deployment.start()
        const left = await serve(server, before)
        before = left.epoch
        await server.kill()
        await lose(server.dataDir)
        const next = await deployment.start()
        await ready(next)
        await next.kill()
        return left
      }
      try {
        const whole = await died(() => undefined)
        expect(whole.epoch).toBe(1)
        expect(await findings(deployment)).toEqual([])
        await expectNamed(await died((dataDir) => removeRows(dataDir, 4, 6)), 'records 4 to 6')
        await expectNamed(await died((dataDir) => removeRows(dataDir, 10, 10)), 'record 10')
        const settled = async () => (await deployment.store.usage.list({ limit: 100 })).length
        const settledBefore = await settled()
        let first = 1
        const withHalf = await died(async (dataDir) => {
          // The settlement at the start may have found the first of them.
          first += (await settled()) - settledBefore
          for (const name of readdirSync(dataDir).filter((each) => each.startsWith('outbox-0-a'))) {
            rmSync(join(dataDir, name))
          }
        })
        await expectNamed(withHalf, `records ${first} to ${requests}`)

        const running = await deployment.start()
        const left = await serve(running, before)
        removeRows(running.dataDir, 2, 2)
        const metrics = await eventually(async () => {
          const text = await (await fetch(`${running.url}/metrics`)).text()
          return text.includes('tollgate_unsettled_records 0\n') ? text : undefined
        }, patienceMs)
        expect(metrics).toContain(`tollgate_records_settled_total ${requests - 1}\n`)
        expect(metrics).toContain(`tollgate_records_total ${requests}\n`)
        expect(metrics).toContain('tollgate_records_missing 1\n')
        await expectNamed(left, 'record 2')
      } finally {
        await deployment.remove()
      }
    }, 120_000)
  },
)
