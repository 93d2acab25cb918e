// Streams a response's events to followers: first those known, then new ones as they come, each at its own pace.

import { Buffer } from 'node:buffer'
import type { JsonObject } from '../../wire/ir.ts'
import { replay } from '../../wire/openai-responses/replay.ts'
import { ResponseSoFar } from '../../wire/openai-responses/so-far.ts'
import type { ResponseKeeper } from './keeper.ts'

/** A response that may still be growing. */
interface Source {
  readonly soFar: ResponseSoFar
  /** Resolves to true when there may be more of it, to false after `limitMs`. */
  changed(limitMs: number): Promise<boolean>
}

/** A response made by this process. */
export class Live implements Source {
  readonly soFar: ResponseSoFar
  private waiting: (() => void)[] = []

  constructor(response: JsonObject) {
    this.soFar = new ResponseSoFar(response)
  }

  changed(limitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), limitMs)
      this.waiting.push(() => {
        clearTimeout(timer)
        resolve(true)
      })
    })
  }

  touch(): void {
    const { waiting } = this
    this.waiting = []
    for (const wake of waiting) wake()
  }

  end(response: JsonObject): void {
    this.soFar.end(response)
    this.touch()
  }
}

/** How often the store is checked for the end of a response that another process makes. */
const lookMs = 1_000

/** A response made by another process: before its end, only its beginning is known. */
export class Elsewhere implements Source {
  readonly soFar: ResponseSoFar
  private readonly keeper: ResponseKeeper
  private readonly account: string
  private readonly id: string
  /** Reads the stored response; null where it is gone. */
  private readonly read: () => Promise<JsonObject | null>

  constructor(
    keeper: ResponseKeeper,
    account: string,
    id: string,
    begun: JsonObject,
    read: () => Promise<JsonObject | null>,
  ) {
    this.keeper = keeper
    this.account = account
    this.id = id
    this.read = read
    this.soFar = new ResponseSoFar(begun)
  }

  async changed(limitMs: number): Promise<boolean> {
    const lastMs = performance.now() + limitMs
    do {
      await new Promise((resolve) => setTimeout(resolve, Math.min(lookMs, limitMs)))
      if (await this.keeper.table.ended(this.account, this.id)) return this.look()
    } while (performance.now() < lastMs)
    // The process that made it may have died, which only `read` finds out.
    return this.look()
  }

  private async look(): Promise<boolean> {
    const response = await this.read()
    if (response === null) this.soFar.end({ ...this.soFar.response, status: 'cancelled' })
    else if (!isRunning(response)) this.soFar.end(response)
    return this.soFar.ended
  }
}

export function isRunning({ status }: JsonObject): boolean {
  return status === 'in_progress' || status === 'queued'
}

/** A response that has ended. */
export function endedSource(response: JsonObject): Source {
  const soFar = new ResponseSoFar(response)
  soFar.end(response)
  return { soFar, changed: async () => true }
}

interface Following {
  /** Events up to this number are skipped; -1 skips none. */
  readonly after: number
  readonly heartbeat: string
  readonly heartbeatMs: number
}

/** The most text that is prepared before the client takes it. */
const pieceLength = 65_536

/** The response's events as the bytes of a stream. */
export async function* follow(
  source: Source,
  { after, heartbeat, heartbeatMs }: Following,
): AsyncGenerator<Uint8Array, void, void> {
  let text = ''
  for (const frame of replay(source.soFar, after)) {
    text += frame ?? ''
    if (text !== '' && (frame === null || text.length >= pieceLength)) {
      yield Buffer.from(text, 'utf8')
      text = ''
    }
    if (frame === null && !(await source.changed(heartbeatMs))) yield Buffer.from(heartbeat, 'utf8')
  }
  yield Buffer.from(text, 'utf8')
}
