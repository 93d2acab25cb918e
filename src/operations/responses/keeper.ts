// Writes responses that are kept, behind the requests they belong to, and lets nobody look who is too early.

import { Buffer } from 'node:buffer'
import type { FoundResponse, ResponseChange, ResponseTable } from '../../store/responses.ts'

/** A response with its input that is larger is not kept, only that it was there. */
export const maxKeptBytes = 1_048_576

interface KeeperRooms {
  readonly table: ResponseTable
  /** By the one thread that writes. */
  apply(changes: readonly ResponseChange[]): Promise<readonly number[]>
  /** A response was lost: for the log. */
  onLost(error: unknown): void
}

interface Waiting {
  readonly change: ResponseChange
  readonly bytes: number
  readonly resolve: (count: number) => void
  readonly reject: (error: unknown) => void
}

const mostAtOnce = 64
/** What may wait for a slow store. */
const maxWaitingBytes = 67_108_864

export class ResponseKeeper {
  readonly table: ResponseTable
  private readonly rooms: KeeperRooms
  private waiting: Waiting[] = []
  private waitingBytes = 0
  private writing = false
  /** By account: what was promised to be kept and is not yet. */
  private readonly pending = new Map<string, Set<Promise<void>>>()

  constructor(rooms: KeeperRooms) {
    this.rooms = rooms
    this.table = rooms.table
  }

  /** Resolves to the number of rows changed, when they are. What comes meanwhile is written together. */
  change(change: ResponseChange): Promise<number> {
    const bytes = weightOf(change)
    if (this.waitingBytes + bytes > maxWaitingBytes)
      return Promise.reject(new Error('too many responses wait to be kept'))
    this.waitingBytes += bytes
    return new Promise((resolve, reject) => {
      this.waiting.push({ change, bytes, resolve, reject })
      if (!this.writing) void this.write()
    })
  }

  /** Keeps it when the request it is of has been served; from now on `find` waits for it. */
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

  /** null where there is none of that account. */
  async find(account: string, id: string): Promise<FoundResponse | null> {
    await this.settled(account)
    return this.table.find(account, id, Date.now())
  }

  /** Resolves when all that this process has promised to keep of the account until now is kept. */
  async settled(account: string): Promise<void> {
    const pending = this.pending.get(account)
    if (pending !== undefined) await Promise.all(pending)
  }

  /** Resolves when nothing more waits. */
  async idle(): Promise<void> {
    while (this.pending.size > 0) {
      await Promise.all([...this.pending.values()].flatMap((each) => [...each]))
    }
  }

  private async write(): Promise<void> {
    this.writing = true
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, mostAtOnce)
      for (const { bytes } of batch) this.waitingBytes -= bytes
      try {
        const counts = await this.rooms.apply(batch.map(({ change }) => change))
        for (const [at, { resolve }] of batch.entries()) resolve(counts[at] ?? 0)
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.writing = false
  }
}

function weightOf(change: ResponseChange): number {
  if (change.kind === 'remove') return 0
  const { body, input } = change.kind === 'keep' ? change.row : { body: change.body, input: null }
  return Buffer.byteLength(body ?? '') + Buffer.byteLength(input ?? '')
}
