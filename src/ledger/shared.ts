// What the serving thread and the ledger's worker tell each other without a message: numbers in shared memory.

import type { Nano } from '../money.ts'
import type { Half } from '../store/sqlite-outbox.ts'

/** Milliseconds that no step of the wall clock moves; each thread counts from its own beginning. */
export function monotonicMs(): number {
  return performance.now()
}

/**
 * The serving thread's clock in the worker: `nowMs` was read there before the worker began, so that this one is
 * behind by what the beginning took, never ahead.
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

  /** Over the buffer of another thread, or a fresh one where everything is 0. */
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

  /** The last sequence in the outbox; the serving thread's. */
  get written(): number {
    return Number(this.#get('written'))
  }
  set written(seq: number) {
    this.#set('written', BigInt(seq))
  }

  /** The number of the last record in the outbox that has one; the serving thread's. */
  get numbered(): number {
    return Number(this.#get('numbered'))
  }
  set numbered(number: number) {
    this.#set('numbered', BigInt(number))
  }

  /** How often the halves have taken turns, which says the half that is appended to; the serving thread's. */
  get turn(): number {
    return Number(this.#get('turn'))
  }
  set turn(turn: number) {
    this.#set('turn', BigInt(turn))
  }

  /** Up to here all is in the ledger; the worker's. */
  get settled(): number {
    return Number(this.#get('settled'))
  }
  set settled(seq: number) {
    this.#set('settled', BigInt(seq))
  }

  /** Whether a half is empty and its log ready; set by the worker, cleared by the serving thread as it takes the half. */
  isClean(half: Half): boolean {
    return this.#get(half === 0 ? 'clean0' : 'clean1') === 1n
  }
  setClean(half: Half, clean: boolean): void {
    this.#set(half === 0 ? 'clean0' : 'clean1', clean ? 1n : 0n)
  }

  /** The worker waits for a message before it looks at the outbox again; set by the worker, cleared by whoever ends it. */
  get resting(): boolean {
    return this.#get('resting') === 1n
  }
  set resting(resting: boolean) {
    this.#set('resting', resting ? 1n : 0n)
  }

  /** Just before the last renewal that the ledger granted was asked for, by the serving thread's clock; the worker's. */
  get renewedMs(): number {
    return Number(this.#get('renewedMs'))
  }
  set renewedMs(atMs: number) {
    this.#set('renewedMs', BigInt(Math.floor(atMs)))
  }

  /** The ledger has closed this node, or its worker has died; gives how often that has been. */
  noteFenced(): number {
    this.#add('fenced', 1n)
    return Number(this.#get('fenced'))
  }
  /**
   * Whether nothing may be held: not renewed for so long, or closed more often than the `known` times
   * that the serving thread was told of. It may be open anew by then, and renewed.
   */
  isStalled(known: number, fenceMs: number): boolean {
    return Number(this.#get('fenced')) !== known || monotonicMs() - this.renewedMs > fenceMs
  }

  /** The ledger was away when it was last asked whether this node is open, or what others need; the worker's. */
  get unreached(): boolean {
    return this.#get('unreached') === 1n
  }
  set unreached(unreached: boolean) {
    this.#set('unreached', unreached ? 1n : 0n)
  }

  /** Totals since this process started; the worker's. */
  count(settled: number, chargedNano: Nano, writtenOffNano: Nano): void {
    this.#add('rows', BigInt(settled))
    this.#add('charged', chargedNano)
    this.#add('writtenOff', writtenOffNano)
  }
  countSetAside(): void {
    this.#add('setAside', 1n)
  }
  /** So many numbered records of this run are in the ledger, or set aside there; they went up to this number. */
  account(records: number, upTo: number): void {
    this.#add('accounted', BigInt(records))
    if (BigInt(upTo) > this.#get('reached')) this.#set('reached', BigInt(upTo))
  }
  get accounted(): number {
    return Number(this.#get('accounted'))
  }
  /** Numbers that were passed over on the way. */
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
