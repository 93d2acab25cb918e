// A finished request as the outbox keeps it: one array of plain values, as short as it can be because it is written for every request.

import type { Nano } from '../money.ts'
import type { IdempotencyDone, NodeRef, OutboxPlace, Settlement } from '../store/ledger.ts'
import type { UsageRow } from '../store/usage-row.ts'
import type { Finished } from './ledger.ts'

/** `final`: the request has ended. `progress`: what a running one has used, in case its process dies. */
export type RecordKind = 'final' | 'progress'

/** A record read back: a settlement, or what could not be read as one. */
export type DecodedRecord =
  | {
      readonly kind: RecordKind
      readonly settlement: Settlement
      readonly values: readonly unknown[]
    }
  | { readonly kind: 'unreadable'; readonly reason: string; readonly values: unknown }

/**
 * One record: money as decimal strings, flags as 0 and 1, by place. One call of the engine's own `JSON.stringify` for
 * all of a turn costs less than text put together by hand; it writes null for what is no number, which the ledger
 * then refuses of this record alone.
 */
export function encodeRecord(
  kind: RecordKind,
  epoch: number,
  fromLeaseNano: Nano,
  { row, capNano, idempotency }: Finished,
  number = unnumbered,
): EncodedRecord {
  const { chargeNano } = row
  const charge = String(chargeNano)
  // Writing a sum takes longer than the rest, and most sums are the charge.
  const sum = (nano: Nano): string => (nano === chargeNano ? charge : String(nano))
  return [
    kind === 'final' ? 0 : 1,
    epoch,
    sum(fromLeaseNano),
    capNano === null ? null : String(capNano),
    idempotency,
    row.requestId,
    row.at,
    row.account,
    row.key,
    row.keyName,
    row.group,
    row.operation,
    row.modelAsked,
    row.modelServed,
    row.channel,
    row.vendor,
    row.attempts,
    row.stream ? 1 : 0,
    row.input,
    row.cachedInput,
    row.cacheWrite,
    row.output,
    row.reasoning,
    row.cacheWrite1h,
    row.audioInput,
    row.audioOutput,
    row.imageInput,
    row.imageOutput,
    row.units,
    row.usageSource,
    row.priceVersion,
    row.multiplierPpm,
    charge,
    row.writeoffNano === 0n ? '0' : String(row.writeoffNano),
    sum(row.vendorCostNano),
    row.ttftMs,
    row.durationMs,
    row.status,
    row.errorCode,
    row.errorCause,
    row.failedAttempts,
    number,
    row.clientAddress,
    row.clientRequestId,
    row.traceId,
    String(row.heldNano),
    row.client,
    row.clientVersion,
    row.vendorRequestId,
  ]
}

/** Of a record that others follow without a gap whether it comes or not: progress, and what earlier versions wrote. */
const unnumbered = 0

export function numberOf(record: EncodedRecord): number {
  return record[41]
}

/** What one turn of the event loop leaves, as the outbox keeps it. */
export function encodeBody(records: readonly EncodedRecord[]): string {
  return JSON.stringify(records)
}

type Flag = 0 | 1
type Text = string | null

/** The record's members; the names say what each is. */
export type EncodedRecord = readonly [
  kind: Flag,
  epoch: number,
  fromLeaseNano: string,
  capNano: Text,
  idempotency: IdempotencyDone | null,
  requestId: string,
  at: number,
  account: string,
  key: string,
  keyName: string,
  group: string,
  operation: string,
  modelAsked: string,
  modelServed: Text,
  channel: Text,
  vendor: Text,
  attempts: number,
  stream: Flag,
  input: number,
  cachedInput: number,
  cacheWrite: number,
  output: number,
  reasoning: number,
  cacheWrite1h: number,
  audioInput: number,
  audioOutput: number,
  imageInput: number,
  imageOutput: number,
  units: UsageRow['units'],
  usageSource: UsageRow['usageSource'],
  priceVersion: number | null,
  multiplierPpm: number,
  chargeNano: string,
  writeoffNano: string,
  vendorCostNano: string,
  ttftMs: number | null,
  durationMs: number,
  status: number,
  errorCode: Text,
  errorCause: Text,
  failedAttempts: UsageRow['failedAttempts'],
  number: number,
  clientAddress: Text,
  clientRequestId: Text,
  traceId: Text,
  heldNano: string,
  client: Text,
  clientVersion: Text,
  vendorRequestId: Text,
]
const encodedLength: EncodedRecord['length'] = 49
/** As versions before wrote them: without what was held and who answered; without a number and what tells of the client. */
const formerLengths = [45, 41]

/** The records of one append of this node in this epoch of its outbox. Never throws: what cannot be read is returned as such. */
export function decodeBody(body: string, node: string, epoch: number): DecodedRecord[] {
  let records: unknown
  try {
    records = JSON.parse(body)
  } catch (error) {
    return [{ kind: 'unreadable', reason: String(error), values: body }]
  }
  if (!Array.isArray(records)) {
    return [{ kind: 'unreadable', reason: 'not a list of records', values: body }]
  }
  return records.map((values: unknown) => decodeRecord(values, node, epoch))
}

function decodeRecord(values: unknown, node: string, outboxEpoch: number): DecodedRecord {
  if (!Array.isArray(values) || !lengths.includes(values.length)) {
    return { kind: 'unreadable', reason: 'not a record of this version', values }
  }
  // Written by this file alone; money is parsed, and what else is amiss the ledger refuses.
  const encoded = values as unknown as EncodedRecord
  try {
    const place = placeOf(encoded[41] ?? unnumbered, node, outboxEpoch)
    const settlement = { ...settlementOf(encoded, { node, epoch: encoded[1] }), place }
    return { kind: encoded[0] === 0 ? 'final' : 'progress', settlement, values }
  } catch (error) {
    return { kind: 'unreadable', reason: String(error), values }
  }
}

const lengths: readonly number[] = [encodedLength, ...formerLengths]

function placeOf(number: unknown, node: string, epoch: number): OutboxPlace | undefined {
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0) {
    throw new TypeError(`a record with the number ${number}`)
  }
  return number === unnumbered || epoch === 0 ? undefined : { node, epoch, number }
}

function settlementOf(encoded: EncodedRecord, ref: NodeRef): Omit<Settlement, 'place'> {
  return {
    ...ref,
    fromLeaseNano: BigInt(encoded[2]),
    capNano: encoded[3] === null ? null : BigInt(encoded[3]),
    idempotency: encoded[4],
    row: rowOf(encoded),
  }
}

function rowOf(encoded: EncodedRecord): UsageRow {
  return {
    requestId: encoded[5],
    at: encoded[6],
    account: encoded[7],
    key: encoded[8],
    keyName: encoded[9],
    group: encoded[10],
    operation: encoded[11],
    modelAsked: encoded[12],
    modelServed: encoded[13],
    channel: encoded[14],
    vendor: encoded[15],
    attempts: encoded[16],
    stream: encoded[17] === 1,
    input: encoded[18],
    cachedInput: encoded[19],
    cacheWrite: encoded[20],
    output: encoded[21],
    reasoning: encoded[22],
    cacheWrite1h: encoded[23],
    audioInput: encoded[24],
    audioOutput: encoded[25],
    imageInput: encoded[26],
    imageOutput: encoded[27],
    units: encoded[28],
    usageSource: encoded[29],
    priceVersion: encoded[30],
    multiplierPpm: encoded[31],
    chargeNano: BigInt(encoded[32]),
    writeoffNano: BigInt(encoded[33]),
    vendorCostNano: BigInt(encoded[34]),
    ttftMs: encoded[35],
    durationMs: encoded[36],
    status: encoded[37],
    errorCode: encoded[38],
    errorCause: encoded[39],
    failedAttempts: encoded[40],
    // Versions before wrote none of these, or only the first three.
    clientAddress: encoded[42] ?? null,
    clientRequestId: encoded[43] ?? null,
    traceId: encoded[44] ?? null,
    heldNano: BigInt(encoded[45] ?? 0),
    client: encoded[46] ?? null,
    clientVersion: encoded[47] ?? null,
    vendorRequestId: encoded[48] ?? null,
  }
}
