// Tests requests on the command line: filters, files, and one request with its receipt.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { keyRow, usageRow } from './contract/store.ts'
import { settlementOf, useCli } from './support/cli.ts'

const cli = useCli()

const fill = () =>
  cli.withStore(async (store) => {
    await store.settlements.settle([
      settlementOf(usageRow({ requestId: 'req_a', client: 'codex' })),
      settlementOf(
        usageRow({
          requestId: 'req_b',
          at: 1_763_700_000_001,
          status: 429,
          errorCode: 'insufficient_quota',
        }),
      ),
    ])
  })

const idsOf = async (...filter: string[]) =>
  (await cli.json('usage', ...filter)).map(({ requestId }: { requestId: string }) => requestId)

test('a list is narrowed by every filter, under the command line’s own names', async () => {
  await fill()
  expect(await idsOf()).toEqual(['req_b', 'req_a'])
  expect(await idsOf('--client', 'codex')).toEqual(['req_a'])
  expect(await idsOf('--class', '4xx')).toEqual(['req_b'])
  expect(await idsOf('--error', 'insufficient_quota', '--status', '429')).toEqual(['req_b'])
  expect(await idsOf('--id', 'req_a')).toEqual(['req_a'])
  expect(await idsOf('--min-cost', '0.01')).toEqual([])
})

test('a file has every row that fits', async () => {
  await fill()
  const file = join(cli.data, 'requests.ndjson')
  expect(await cli.json('usage', '--export', file, '--format', 'json', '--class', '2xx')).toEqual({
    file,
    format: 'json',
  })
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line).requestId)).toEqual(['req_a'])
})

test('one request is shown with whose fault it was', async () => {
  await fill()
  const shown = await cli.json('request', 'show', 'req_b')
  expect(shown).toMatchObject({ requestId: 'req_b', receipt: null, blame: { party: 'account' } })
})

test('a table of usage by key has the names of keys beside their ids', async () => {
  await cli.withStore(async (store) => {
    await store.accounts.ensure('acme', 1)
    await store.keys.insert(keyRow({ id: 'key_a', account: 'acme', name: 'build server' }))
    const at = Date.now() - 60_000
    await store.settlements.settle([
      settlementOf(usageRow({ requestId: 'req_a', key: 'key_a', at })),
    ])
  })
  const { out } = await cli.run(['stats', '--by', 'key,model', '--csv', '--data', cli.data])
  const [head = '', line = ''] = out.split('\r\n')
  expect(head).toStartWith('key,model,keyName,requests,')
  expect(line).toStartWith('key_a,gpt-4o-mini,build server,1,')
  const overTime = ['--metric', 'requests', '--by', 'key', '--csv', '--data', cli.data]
  const series = await cli.run(['stats', ...overTime])
  expect(series.out.split('\r\n')[0]).toEndWith(',build server (key_a),requests (requests)')
})
