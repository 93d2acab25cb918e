// Responses that are made while nobody waits for them: run to their end, or until somebody cancels them.

import { Buffer } from 'node:buffer'
import { errorTable, GatewayError } from '../errors.ts'
import type { Answer } from '../relay/ask.ts'
import type { JsonObject } from '../wire/ir.ts'
import { keptBody, type Queued } from './responses.ts'
import type { ResponseKeeper } from './responses-keeper.ts'

/** The work behind a response; a relay's call is one. */
export interface Work {
  run(): Promise<Answer>
  cancel(): void
}

interface Running {
  readonly queued: Queued
  readonly work: Work
  readonly ended: Promise<void>
}

/** How soon a response that was cancelled at another node is stopped here. */
const lookMs = 1_000

export class Background {
  private readonly keeper: ResponseKeeper
  private readonly onLost: (error: unknown) => void
  private readonly running = new Map<string, Running>()
  private timer: ReturnType<typeof setInterval> | null = null

  constructor(keeper: ResponseKeeper, onLost: (error: unknown) => void) {
    this.keeper = keeper
    this.onLost = onLost
  }

  /** Begins the work; what comes of it is found under the response's id. */
  start(queued: Queued, work: Work): void {
    const { account, id } = queued.row
    const key = keyOf(account, id)
    const ended = work
      .run()
      .then(async (answer) => endOf(queued, await textOf(answer)))
      .catch((error: unknown) => failed(queued.response, error))
      .then((response) => this.finish(queued, response))
      .catch(this.onLost)
      .finally(() => this.forget(key))
    this.running.set(key, { queued, work, ended })
    this.timer ??= setInterval(() => void this.look().catch(this.onLost), lookMs)
  }

  /** Ends the response as cancelled. False where it ran no longer. */
  async cancel(account: string, id: string, body: string): Promise<boolean> {
    const count = await this.keeper.change({ kind: 'finish', account, id, body, items: [] })
    this.stop(account, id)
    return count > 0
  }

  /** Resolves when all that was begun here has ended and is kept. */
  async idle(): Promise<void> {
    await Promise.all([...this.running.values()].map(({ ended }) => ended))
  }

  /** Lets the work go, where it is done here. */
  stop(account: string, id: string): void {
    this.running.get(keyOf(account, id))?.work.cancel()
  }

  private async finish({ row }: Queued, response: JsonObject): Promise<void> {
    const { account, id } = row
    const { body, items } = keptBody(response, null)
    await this.keeper.change({ kind: 'finish', account, id, body, items })
  }

  private forget(key: string): void {
    this.running.delete(key)
    if (this.running.size > 0 || this.timer === null) return
    clearInterval(this.timer)
    this.timer = null
  }

  /** Another node may have ended what runs here. */
  private async look(): Promise<void> {
    for (const { queued, work } of [...this.running.values()]) {
      const { account, id } = queued.row
      if (await this.keeper.table.ended(account, id)) work.cancel()
    }
  }
}

function keyOf(account: string, id: string): string {
  return `${account}\0${id}`
}

async function textOf({ body }: Answer): Promise<string | null> {
  if (body instanceof Uint8Array) return Buffer.from(body).toString('utf8')
  // Larger than what is held back is larger than what is kept; it is heard to its end for what it costs.
  for await (const _piece of body);
  return null
}

function endOf({ response }: Queued, text: string | null): JsonObject {
  if (text !== null) return JSON.parse(text) as JsonObject
  const error = { code: 'server_error', message: 'The response is too large to be kept.' }
  return { ...response, status: 'failed', error }
}

function failed(response: JsonObject, thrown: unknown): JsonObject {
  const error =
    thrown instanceof GatewayError
      ? thrown
      : new GatewayError('server_error', 'The gateway failed to handle this request.')
  const code = error.detail.shownCode ?? error.code
  const known = errorTable[error.code].status === 429 || error.detail.shownCode !== undefined
  const shown = { code: known ? code : 'server_error', message: error.message }
  return { ...response, status: 'failed', error: shown }
}
