// Tests warehouses with real servers on this machine: what they are sent, and the handling of every kind of refusal.

import { afterAll, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { BatchTooLarge, openWarehouses, type Warehouse } from '../../src/blobs/warehouse.ts'
import type { ExportSettings } from '../../src/config/types.ts'
import { createDialer } from '../../src/upstream/dial.ts'
import { startBucket } from '../support/bucket.ts'
import { linesIn, startClickHouse } from '../support/clickhouse.ts'

const dialer = createDialer()
afterAll(() => dialer.close())

const content = gzipSync('{"request_id":"a"}\n')
const batch = { name: '2026/11/23/1-2-abc', token: '2026/11/23/1-2-abc-7', content }

function open(settings: Partial<ExportSettings>, withinMs?: number): Warehouse {
  const none = { clickhouse: null, s3: null, intervalMs: 1_000, holdDays: 7 }
  const [warehouse] = openWarehouses({ ...none, ...settings }, dialer, withinMs)
  if (warehouse === undefined) throw new Error('There is none.')
  return warehouse
}

test('ClickHouse gets one insert with its token, and its words where it refuses', async () => {
  await using clickhouse = startClickHouse()
  const { settings } = clickhouse
  await open({ clickhouse: settings }).put(batch)
  expect(clickhouse.inserts).toEqual([{ name: batch.token, rows: [{ request_id: 'a' }] }])
  const stranger = open({ clickhouse: { ...settings, password: 'another' } }).put(batch)
  await expect(stranger).rejects.toThrow('answered 403: Code: 516. DB::Exception: failed')
  await expect(stranger).rejects.not.toThrow('another')
  const elsewhere = open({ clickhouse: { ...settings, table: 'lost' } }).put(batch)
  await expect(elsewhere).rejects.toThrow('answered 400: Code: 62.')
  expect(clickhouse.inserts).toHaveLength(1)
})

test('an answer before all of a large batch was sent is the answer', async () => {
  await using clickhouse = startClickHouse()
  clickhouse.refusal = { status: 500, text: 'Code: 241. DB::Exception: memory limit' }
  const large = { ...batch, content: crypto.getRandomValues(new Uint8Array(65_536)) }
  const many = {
    ...large,
    content: Buffer.concat(Array.from({ length: 320 }, () => large.content)),
  }
  const put = () => open({ clickhouse: clickhouse.settings }).put(many)
  await expect(put()).rejects.toThrow('answered 500: Code: 241.')
  clickhouse.refusal = { status: 413, text: 'too large' }
  await expect(put()).rejects.toBeInstanceOf(BatchTooLarge)
})

test('one that says nothing, leads elsewhere or is not there has not taken it', async () => {
  await using clickhouse = startClickHouse()
  const { settings } = clickhouse
  clickhouse.mute = 1
  await expect(open({ clickhouse: settings }, 300).put(batch)).rejects.toThrow('took too long')
  using other = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => Response.redirect(clickhouse.url, 307),
  })
  const redirected = open({ clickhouse: { ...settings, url: other.url.href } }).put(batch)
  await expect(redirected).rejects.toThrow('answered 307')
  const away = open({ clickhouse: { ...settings, url: 'http://127.0.0.1:1' } }).put(batch)
  await expect(away).rejects.toThrow('cannot be reached')
  expect(clickhouse.inserts).toHaveLength(1)
})

test('a bucket has a file of its name, the same again in its place, and none where it refuses', async () => {
  await using bucket = startBucket()
  const { url: endpoint, name, accessKeyId, secretAccessKey } = bucket
  const access = { bucket: name, accessKeyId, secretAccessKey, region: null }
  const warehouse = open({ s3: { endpoint, ...access, prefix: 'usage/' } })
  await warehouse.put(batch)
  await warehouse.put(batch)
  expect([...bucket.objects.keys()]).toEqual([`usage/${batch.name}.ndjson.gz`])
  const [{ bytes } = { bytes: Buffer.alloc(0) }] = bucket.objects.values()
  expect(linesIn(bytes)).toEqual([{ request_id: 'a' }])
  bucket.failing = 403
  await expect(warehouse.put(batch)).rejects.toThrow('the store of the export failed with')
})
