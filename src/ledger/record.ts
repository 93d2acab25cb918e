// Encodes a finished request for the outbox: an array of plain values, kept short because every request writes one.

import type { Nano } from '../money.ts'
import type { IdempotencyDone, NodeRef, OutboxPlace, Settlement } from '../store/ledger.ts'
import type { UsageRow } from '../store/usage-row.ts'
import type { Finished } from './ledger.ts'

/** `final`: the request has ended. `progress`: what a running request has used, in case its process dies. */
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
 * One record, by position: money as decimal strings, flags as 0 and 1. One `JSON.stringify` call for all records of a
 * turn is faster than text assembled by hand; it writes null for a value that is no number, and the ledger then refuses
 * that record alone.
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
  // Formatting an amount takes longer than everything else here, and most amounts equal the charge.
  const sum = (nano: Nano): string => (nano === chargeNano ? charge : String(nano))
  const record: UntaggedRecord = [
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
  // Left out where there is none: earlier versions do not read longer records.
  return row.tag === null ? record : [...record, row.tag]
}

/** For records without a place in the numbering: progress records, and records written by earlier versions. */
const unnumbered = 0

export function numberOf(record: EncodedRecord): number {
  return record[41]
}

export function encodeProgress(record: EncodedRecord): string {
  return JSON.stringify(record)
}

/** Encodes what is committed together as one row of the outbox: `progress` has texts of `encodeProgress`. */
export function encodeBody(
  records: readonly EncodedRecord[],
  progress: readonly string[] = [],
): string {
  const finals = JSON.stringify(records)
  if (progress.length === 0) return finals
  // Before the final ones, since of a stream's records the last counts.
  return records.length === 0 ? `[${progress}]` : `[${progress},${finals.slice(1)}`
}

type Flag = 0 | 1
type Text = string | null

type UntaggedRecord = readonly [
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
export type EncodedRecord = UntaggedRecord | readonly [...UntaggedRecord, tag: string]

const untaggedLength: UntaggedRecord['length'] = 49
/** Lengths that earlier versions wrote: 45 ends before `heldNano`; 41 ends before `number`. */
const formerLengths = [45, 41]

/** The records of one row of this node's outbox, in this epoch. Never throws: returns bad ones as `unreadable`. */
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
  // Only this file writes records; amounts are parsed here, and the ledger refuses other invalid values.
  const encoded = values as unknown as EncodedRecord
  try {
    const place = placeOf(encoded[41] ?? unnumbered, node, outboxEpoch)
    const settlement = { ...settlementOf(encoded, { node, epoch: encoded[1] }), place }
    return { kind: encoded[0] === 0 ? 'final' : 'progress', settlement, values }
  } catch (error) {
    return { kind: 'unreadable', reason: String(error), values }
  }
}

const lengths: readonly number[] = [untaggedLength + 1, untaggedLength, ...formerLengths]

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
    // Earlier versions wrote none of these, or only the first three.
    clientAddress: encoded[42] ?? null,
    clientRequestId: encoded[43] ?? null,
    traceId: encoded[44] ?? null,
    heldNano: BigInt(encoded[45] ?? 0),
    client: encoded[46] ?? null,
    clientVersion: encoded[47] ?? null,
    vendorRequestId: encoded[48] ?? null,
    tag: encoded[49] ?? null,
  }
}
