// Stores responses after the requests they belong to, and makes readers wait for those still being stored.

import { Buffer } from 'node:buffer'
import { setTimeout as delay } from 'node:timers/promises'
import type { FoundResponse, ResponseChange, ResponseTable } from '../../store/responses.ts'

/** Of a response that is larger than this with its input, only its existence is stored. */
export const maxKeptBytes = 1_048_576

interface KeeperRooms {
  readonly table: ResponseTable
  /** Other processes store responses too. */
  readonly isShared: boolean
  /** Writes by the one thread that writes. */
  apply(changes: readonly ResponseChange[]): Promise<readonly number[]>
  /** Logs that a response could not be stored. */
  onLost(error: unknown): void
  /** Logs that a response could not be stored yet. */
  onDelayed(error: unknown): void
}

interface Waiting {
  readonly change: ResponseChange
  readonly bytes: number
  /** It is repeated until it succeeds. */
  readonly insists: boolean
  failures: number
  readonly resolve: (count: number) => void
  readonly reject: (error: unknown) => void
}

const mostAtOnce = 64
/** The most bytes that may wait for a slow store. */
const maxWaitingBytes = 67_108_864
/** A change of at most this size waits in any case. */
const smallBytes = 4_096
const firstRepeatMs = 100
const longestRepeatMs = 10_000
/** Pauses before reading again what another process may be about to store: it has just sent the reply. */
const rereadMs = [5, 15, 40, 80, 160]

export class ResponseKeeper {
  readonly table: ResponseTable
  private readonly rooms: KeeperRooms
  private readonly waiting: Waiting[] = []
  /** Those that failed before, whose time has come again. */
  private readonly repeated: Waiting[] = []
  private readonly stopping = new AbortController()
  private waitingBytes = 0
  private writing = false
  /** Promised writes that are not finished, by account. */
  private readonly pending = new Map<string, Set<Promise<void>>>()

  constructor(rooms: KeeperRooms) {
    this.rooms = rooms
    this.table = rooms.table
  }

  /** Resolves to the number of rows changed. Changes that arrive during a write are written together. */
  change(change: ResponseChange): Promise<number> {
    return this.add(change, false)
  }

  /** As `change`, but repeated until it succeeds or the process stops. Rejects where too much waits already. */
  insist(change: ResponseChange): Promise<number> {
    return this.add(change, true)
  }

  private add(change: ResponseChange, insists: boolean): Promise<number> {
    const bytes = weightOf(change)
    if (bytes > smallBytes && this.waitingBytes + bytes > maxWaitingBytes)
      return Promise.reject(new Error('too many responses wait to be stored'))
    this.waitingBytes += bytes
    return new Promise((resolve, reject) => {
      this.waiting.push({ change, bytes, insists, failures: 0, resolve, reject })
      if (!this.writing) void this.write()
    })
  }

  /** The process stops: what fails from now on is not repeated. */
  stop(): void {
    this.stopping.abort()
  }

  /** Stores a response after its request has been served; from now on `find` waits for it. */
  later(account: string, make: () => ResponseChange): void {
    const kept = new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => this.change(make()))
      .then(
        () => undefined,
        (error: unknown) => this.rooms.onLost(error),
      )
      .finally(() => {
        const others = this.pending.get(account)
        others?.delete(kept)
        if (others?.size === 0) this.pending.delete(account)
      })
    const others = this.pending.get(account)
    if (others === undefined) this.pending.set(account, new Set([kept]))
    else others.add(kept)
  }

  /** Null where that account has no such response. */
  find(account: string, id: string): Promise<FoundResponse | null> {
    return this.read(account, () => this.table.find(account, id, Date.now()))
  }

  /** Reads what was stored for requests that have ended; `once` resolves to null where it is not there yet. */
  async read<T>(account: string, once: () => Promise<T | null>): Promise<T | null> {
    await this.settled(account)
    let found = await once()
    for (const pauseMs of this.rooms.isShared ? rereadMs : []) {
      if (found !== null) break
      await delay(pauseMs)
      found = await once()
    }
    return found
  }

  /** Resolves when everything this process has promised to store for the account so far is stored. */
  private async settled(account: string): Promise<void> {
    const pending = this.pending.get(account)
    if (pending !== undefined) await Promise.all(pending)
  }

  /** Resolves when nothing waits to be stored. */
  async idle(): Promise<void> {
    while (this.pending.size > 0) {
      await Promise.all([...this.pending.values()].flatMap((each) => [...each]))
    }
  }

  private async write(): Promise<void> {
    this.writing = true
    while (this.waiting.length + this.repeated.length > 0) {
      if (this.waiting.length > 0) await this.store(this.waiting.splice(0, mostAtOnce))
      // Alone: another of the same transaction may have been what failed.
      const again = this.repeated.shift()
      if (again !== undefined) await this.store([again])
    }
    this.writing = false
  }

  private async store(batch: readonly Waiting[]): Promise<void> {
    try {
      const counts = await this.rooms.apply(batch.map(({ change }) => change))
      for (const [at, each] of batch.entries()) this.end(each).resolve(counts[at] ?? 0)
    } catch (error) {
      for (const each of batch) {
        if (each.insists && !this.stopping.signal.aborted) void this.repeat(each, error)
        else this.end(each).reject(error)
      }
    }
  }

  private end(each: Waiting): Waiting {
    this.waitingBytes -= each.bytes
    return each
  }

  private async repeat(each: Waiting, error: unknown): Promise<void> {
    each.failures += 1
    if (each.failures === 1) this.rooms.onDelayed(error)
    const pauseMs = Math.min(firstRepeatMs * 2 ** (each.failures - 1), longestRepeatMs)
    // Ends early, with an error, when the process stops: one more attempt is made then.
    await delay(pauseMs, undefined, { signal: this.stopping.signal }).catch(() => undefined)
    this.repeated.push(each)
    if (!this.writing) void this.write()
  }
}

function weightOf(change: ResponseChange): number {
  if (change.kind === 'remove') return 0
  const { body, input } = change.kind === 'keep' ? change.row : { body: change.body, input: null }
  return Buffer.byteLength(body ?? '') + Buffer.byteLength(input ?? '')
}
