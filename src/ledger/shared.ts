// Numbers in shared memory, by which the serving thread and the ledger's worker inform each other without messages.

import type { Nano } from '../money.ts'
import type { Half } from '../store/sqlite-outbox.ts'

/** Milliseconds, unaffected by changes of the wall clock; each thread counts from its own start. */
export function monotonicMs(): number {
  return performance.now()
}

/**
 * The serving thread's clock, for use in the worker. `nowMs` was read there before the worker began, so this clock is
 * behind by the time that took, and never ahead.
 */
export function clockFrom(nowMs: number): () => number {
  const aheadMs = nowMs - monotonicMs()
  return () => monotonicMs() + aheadMs
}

const fields = [
  'written',
  'numbered',
  'settled',
  'turn',
  'clean0',
  'clean1',
  'renewedMs',
  'fenced',
  'rows',
  'charged',
  'writtenOff',
  'setAside',
  'resting',
  'reached',
  'accounted',
  'unreached',
] as const

type Field = (typeof fields)[number]

const place = Object.fromEntries(fields.map((field, index) => [field, index])) as Record<
  Field,
  number
>

export class SharedState {
  readonly buffer: SharedArrayBuffer
  readonly #numbers: BigInt64Array

  /** Uses the buffer of another thread, or a new one where every number is 0. */
  constructor(buffer = new SharedArrayBuffer(fields.length * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer
    this.#numbers = new BigInt64Array(buffer)
  }

  #get(field: Field): bigint {
    return Atomics.load(this.#numbers, place[field])
  }

  #set(field: Field, value: bigint): void {
    Atomics.store(this.#numbers, place[field], value)
  }

  #add(field: Field, value: bigint): void {
    Atomics.add(this.#numbers, place[field], value)
  }

  /** The last sequence in the outbox; written by the serving thread. */
  get written(): number {
    return Number(this.#get('written'))
  }
  set written(seq: number) {
    this.#set('written', BigInt(seq))
  }

  /** The number of the last numbered record in the outbox; written by the serving thread. */
  get numbered(): number {
    return Number(this.#get('numbered'))
  }
  set numbered(number: number) {
    this.#set('numbered', BigInt(number))
  }

  /** How often writing has switched halves; its parity gives the half in use. Written by the serving thread. */
  get turn(): number {
    return Number(this.#get('turn'))
  }
  set turn(turn: number) {
    this.#set('turn', BigInt(turn))
  }

  /** Everything up to this sequence is in the ledger; written by the worker. */
  get settled(): number {
    return Number(this.#get('settled'))
  }
  set settled(seq: number) {
    this.#set('settled', BigInt(seq))
  }

  /** Whether a half is empty and its log ready; set by the worker, cleared by the serving thread on first use. */
  isClean(half: Half): boolean {
    return this.#get(half === 0 ? 'clean0' : 'clean1') === 1n
  }
  setClean(half: Half, clean: boolean): void {
    this.#set(half === 0 ? 'clean0' : 'clean1', clean ? 1n : 0n)
  }

  /** The worker reads the outbox again only after a message; set by the worker, cleared by either thread. */
  get resting(): boolean {
    return this.#get('resting') === 1n
  }
  set resting(resting: boolean) {
    this.#set('resting', resting ? 1n : 0n)
  }

  /** The serving thread's time just before the last successful renewal was requested; written by the worker. */
  get renewedMs(): number {
    return Number(this.#get('renewedMs'))
  }
  set renewedMs(atMs: number) {
    this.#set('renewedMs', BigInt(Math.floor(atMs)))
  }

  /** Counts that the ledger has closed this node or its worker has died; returns the count so far. */
  noteFenced(): number {
    this.#add('fenced', 1n)
    return Number(this.#get('fenced'))
  }
  /**
   * Whether nothing may be held: the node was not renewed for `fenceMs`, or was closed more often than the `known`
   * times that the serving thread was notified of, even if it was opened and renewed again since.
   */
  isStalled(known: number, fenceMs: number): boolean {
    return Number(this.#get('fenced')) !== known || monotonicMs() - this.renewedMs > fenceMs
  }

  /** The last request to the ledger about this node's state or other nodes' needs failed; written by the worker. */
  get unreached(): boolean {
    return this.#get('unreached') === 1n
  }
  set unreached(unreached: boolean) {
    this.#set('unreached', unreached ? 1n : 0n)
  }

  /** Totals since this process started; written by the worker. */
  count(settled: number, chargedNano: Nano, writtenOffNano: Nano): void {
    this.#add('rows', BigInt(settled))
    this.#add('charged', chargedNano)
    this.#add('writtenOff', writtenOffNano)
  }
  countSetAside(): void {
    this.#add('setAside', 1n)
  }
  /** Counts numbered records of this run that are in the ledger or set aside; `upTo` is their highest number. */
  account(records: number, upTo: number): void {
    this.#add('accounted', BigInt(records))
    if (BigInt(upTo) > this.#get('reached')) this.#set('reached', BigInt(upTo))
  }
  get accounted(): number {
    return Number(this.#get('accounted'))
  }
  /** How many record numbers below the highest one seen are not in the ledger. */
  get missing(): number {
    const reached = this.#get('reached')
    return Math.max(0, Number(reached - this.#get('accounted')))
  }
  totals(): { rows: number; chargedNano: Nano; writtenOffNano: Nano; setAside: number } {
    return {
      rows: Number(this.#get('rows')),
      chargedNano: this.#get('charged'),
      writtenOffNano: this.#get('writtenOff'),
      setAside: Number(this.#get('setAside')),
    }
  }
}
