// Tests that the record of a finished request is read from the outbox as it was written, to the nano-unit.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { finishedRequest } from '../../test/support/finished.ts'
import { maxNano } from '../money.ts'
import type { UsageRow } from '../store/usage-row.ts'
import type { Finished } from './ledger.ts'
import { decodeBody, encodeBody, encodeRecord } from './record.ts'

const nano = fc.bigInt({ min: 0n, max: maxNano })
const count = fc.nat({ max: Number.MAX_SAFE_INTEGER })
const text = fc.string({ unit: 'binary' })
const textOrNull = fc.option(text)
const durationMs = fc
  .double({ min: 0, max: 1e9, noNaN: true })
  .map((each) => (each === 0 ? 0 : each))

const anyRow: fc.Arbitrary<UsageRow> = fc.record({
  requestId: text,
  at: count,
  account: text,
  key: text,
  keyName: text,
  group: text,
  operation: text,
  modelAsked: text,
  modelServed: textOrNull,
  channel: textOrNull,
  vendor: textOrNull,
  attempts: count,
  stream: fc.boolean(),
  input: count,
  cachedInput: count,
  cacheWrite: count,
  output: count,
  reasoning: count,
  cacheWrite1h: count,
  audioInput: count,
  audioOutput: count,
  imageInput: count,
  imageOutput: count,
  units: fc.option(
    fc.dictionary(fc.constantFrom('second', 'image/1024x1024', 'character'), durationMs, {
      noNullPrototype: true,
    }),
  ),
  usageSource: fc.constantFrom('reported', 'drained', 'counted', 'none'),
  priceVersion: fc.option(count),
  multiplierPpm: count,
  chargeNano: nano,
  writeoffNano: nano,
  vendorCostNano: nano,
  ttftMs: fc.option(durationMs),
  durationMs,
  status: fc.nat({ max: 599 }),
  errorCode: textOrNull,
  errorCause: textOrNull,
  failedAttempts: fc.option(
    fc.array(
      fc.record(
        {
          channel: text,
          kind: text,
          costNano: nano.map(String),
          startMs: count,
          durationMs: count,
        },
        { requiredKeys: ['channel', 'kind', 'costNano'], noNullPrototype: true },
      ),
    ),
  ),
  clientAddress: textOrNull,
  clientRequestId: textOrNull,
  traceId: textOrNull,
  heldNano: nano,
  client: textOrNull,
  clientVersion: textOrNull,
  vendorRequestId: textOrNull,
  tag: textOrNull,
})

const anyFinished: fc.Arbitrary<Finished> = fc.record({
  row: anyRow,
  capNano: fc.option(nano),
  idempotency: fc.option(
    fc.record({
      account: text,
      key: text,
      keep: fc.boolean(),
      reply: fc.option(fc.record({ status: fc.nat(599), contentType: text, body: text })),
    }),
  ),
})

test('what is encoded is decoded to the same', () => {
  const records = fc.array(fc.record({ finished: anyFinished, from: nano, epoch: count }), {
    minLength: 1,
    maxLength: 5,
  })
  fc.assert(
    fc.property(records, (written) => {
      const body = encodeBody(
        written.map(({ finished, from, epoch }) => encodeRecord('final', epoch, from, finished)),
      )
      const read = decodeBody(body, 'node-1', 1)
      const expected = written.map(({ finished, from, epoch }) => ({
        kind: 'final',
        settlement: { ...finished, node: 'node-1', epoch, fromLeaseNano: from },
      }))
      expect(read.map(({ values, ...rest }) => rest) as unknown).toEqual(expected)
    }),
    { numRuns: 300 },
  )
})

test('a progress record is one', () => {
  const record = encodeRecord('progress', 4, 7n, finishedRequest({ requestId: 'req_1' }))
  expect(decodeBody(encodeBody([record]), 'n', 1)[0]?.kind).toBe('progress')
})

test('a record without what was held, the client and the vendor is read', () => {
  const sender = { clientAddress: '192.0.2.7', clientRequestId: 'a', traceId: 'b'.repeat(32) }
  const lost = { heldNano: 5n, client: 'codex', clientVersion: '1', vendorRequestId: 'v' }
  const record = encodeRecord(
    'final',
    4,
    7n,
    finishedRequest({ requestId: 'req_1', ...sender, ...lost }),
  )
  const [read] = decodeBody(JSON.stringify([record.slice(0, 45)]), 'n', 1)
  if (read?.kind !== 'final') throw new Error('unreadable')
  expect(read.settlement.row).toMatchObject({
    ...sender,
    heldNano: 0n,
    client: null,
    clientVersion: null,
    vendorRequestId: null,
  })
})

test('a record of the version before is read: it tells of no address, id or trace', () => {
  const row = { clientAddress: '192.0.2.7', clientRequestId: 'a', traceId: 'b'.repeat(32) }
  const record = encodeRecord('final', 4, 7n, finishedRequest({ requestId: 'req_1', ...row }))
  const [read] = decodeBody(JSON.stringify([record.slice(0, 41)]), 'n', 1)
  if (read?.kind !== 'final') throw new Error('unreadable')
  expect(read.settlement.row).toMatchObject({
    requestId: 'req_1',
    failedAttempts: null,
    clientAddress: null,
    clientRequestId: null,
    traceId: null,
  })
})

describe('what cannot be read is recognised, and leaves its neighbours alone', () => {
  const good = encodeRecord('final', 1, 0n, finishedRequest({ requestId: 'req_1' }))
  const kinds = (body: string): string[] => decodeBody(body, 'n', 1).map(({ kind }) => kind)

  const cases: readonly [name: string, body: string, expected: readonly string[]][] = [
    ['text that is no JSON', '[[0,1', ['unreadable']],
    ['no list', '{"a":1}', ['unreadable']],
    ['a record of another length', `[[0,1,"0"],${JSON.stringify(good)}]`, ['unreadable', 'final']],
    [
      'money that is none',
      JSON.stringify([good.with(2, '1.5'), good, good.with(32, null)]),
      ['unreadable', 'final', 'unreadable'],
    ],
  ]
  for (const [name, body, expected] of cases) {
    test(name, () => expect(kinds(body)).toEqual([...expected]))
  }

  test('a count that is no number becomes null, for the ledger to refuse', () => {
    const spoilt = finishedRequest({ requestId: 'req_2', input: Number.NaN })
    const body = encodeBody([encodeRecord('final', 1, 0n, spoilt), good])
    const [first, second] = decodeBody(body, 'n', 1)
    expect(first?.kind === 'final' && (first.settlement.row.input as unknown)).toBeNull()
    expect(second?.kind).toBe('final')
  })
})

test('a record says where it stood in the outbox; what has no number stands nowhere', () => {
  const finished = finishedRequest({ requestId: 'req_1' })
  const numbered = encodeRecord('final', 4, 0n, finished, 17)
  const progress = encodeRecord('progress', 4, 0n, finished)
  const former = numbered.slice(0, 41)
  const read = (values: unknown, epoch: number) => {
    const [record] = decodeBody(JSON.stringify([values]), 'n', epoch)
    return record?.kind === 'unreadable' ? record.reason : [record?.kind, record?.settlement.place]
  }
  expect(read(numbered, 3)).toEqual(['final', { node: 'n', epoch: 3, number: 17 }])
  expect(read(progress, 3)).toEqual(['progress', undefined])
  expect(read(former, 0)).toEqual(['final', undefined])
  expect(read(numbered.with(41, -1), 3)).toContain('-1')
  expect(read(numbered.with(41, 1.5), 3)).toContain('1.5')
})
