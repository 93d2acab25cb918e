// Tests the export on the command line: its progress, a restart from the beginning, and the table.

import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { usageRow } from './contract/store.ts'
import { settlementOf, useCli } from './support/cli.ts'

const cli = useCli()
const turn = { destination: 'clickhouse', holder: 'one' }

test('status says where it is and why it fails, and restart goes back to the beginning', async () => {
  await cli.withStore((store) => store.ping())
  expect(await cli.json('export', 'status')).toEqual([])
  const never = await cli.run(['export', 'restart', 'clickhouse', '--data', cli.data])
  expect([never.code, never.err]).toEqual([1, expect.stringContaining('nothing was ever sent')])
  await cli.withStore(async ({ usageExport, usage, settlements, failingWork }) => {
    await usageExport.take(turn, 0, 1_000)
    const settled = await usage.newest()
    const taken = { rows: 4, through: settled.number, holdMs: 1_000 }
    await usageExport.move(turn, { settled, scan: null }, taken)
    await settlements.settle([settlementOf(usageRow({ requestId: 'a' }))])
    await failingWork.note({ work: 'export', subject: 'clickhouse' }, 'it took too long')
  })
  expect(await cli.json('export', 'status')).toMatchObject([
    {
      ...{ destination: 'clickhouse', state: 'behind', rowsBehind: 1, rowsTaken: 4 },
      ...{ waitingSince: expect.stringMatching(/Z$/), failure: 'it took too long' },
    },
  ])
  const table = await cli.run(['export', 'status', '--data', cli.data])
  expect(table.out).toStartWith('TO          STATE   BEHIND')
  expect(await cli.json('export', 'restart', 'clickhouse')).toEqual({ destination: 'clickhouse' })
  expect(await cli.json('export', 'status')).toEqual([])
})

test('ddl names the table of the configuration, with a column for each of a record', async () => {
  const config = join(cli.scratch, 'tollgate.json')
  const clickhouse = { url: 'http://ch', database: 'gateway', table: 'usage', password: 'p' }
  writeFileSync(config, JSON.stringify({ usage: { export: { clickhouse } } }))
  const { code, out } = await cli.run(['export', 'ddl', '--config', config])
  expect(code).toBe(0)
  expect(out).toStartWith('CREATE TABLE IF NOT EXISTS `gateway`.`usage` (\n')
  expect(out).toContain("`at` DateTime64(3, 'UTC')")
  expect(out).toContain('`charge_nano` Int64')
  expect(out).toContain('ENGINE = ReplacingMergeTree')
})
