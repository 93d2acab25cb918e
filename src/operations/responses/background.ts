// Responses made in the background: run to their end while no client waits, or until somebody cancels them.

import { Buffer } from 'node:buffer'
import { errorTable, GatewayError } from '../../errors.ts'
import type { ByteSink, ReplyStream } from '../../relay/backpressure-queue.ts'
import type { Answer } from '../../relay/request.ts'
import type { JsonObject } from '../../wire/ir.ts'
import { ResponsesFrames } from '../../wire/openai-responses/frames.ts'
import { maxKeptBytes, type ResponseKeeper } from './keeper.ts'
import { Live } from './live.ts'
import { keptBody, type Queued } from './request.ts'

/** The work that makes a response; a relay's call is one. */
interface Work {
  run(): Promise<Answer>
  cancel(): void
}

interface Running {
  readonly queued: Queued
  readonly work: Work
  readonly live: Live
  readonly ended: Promise<void>
}

/** How often it checks whether a response was cancelled on another node. */
const lookMs = 1_000

export class Background {
  private readonly keeper: ResponseKeeper
  private readonly onLost: (error: unknown) => void
  private readonly running = new Map<string, Running>()
  private timer: ReturnType<typeof setInterval> | null = null
  private looking = false

  constructor(keeper: ResponseKeeper, onLost: (error: unknown) => void) {
    this.keeper = keeper
    this.onLost = onLost
  }

  /** Begins the work; its progress can be followed, and its result is stored under the response's id. */
  start(queued: Queued, work: Work): Live {
    const { account, id } = queued.row
    const key = keyOf(account, id)
    const live = new Live(queued.response)
    const ended = work
      .run()
      .then((answer) => finish(queued, answer, live))
      .catch((error: unknown) => failed(queued.response, error))
      .then((response) => this.finish(queued, live, live.soFar.ending(response)))
      .catch((error: unknown) => {
        this.onLost(error)
        live.end(failed(queued.response, error))
      })
      .finally(() => this.forget(key))
    this.running.set(key, { queued, work, live, ended })
    this.timer ??= setInterval(() => void this.look().catch(this.onLost), lookMs)
    return live
  }

  /** The progress of a response made by this process; null where it is not made here. */
  live(account: string, id: string): Live | null {
    return this.running.get(keyOf(account, id))?.live ?? null
  }

  /** Ends the response as cancelled, with its output so far; null where it was not running any more. */
  async cancel(account: string, id: string, response: JsonObject): Promise<JsonObject | null> {
    const live = this.live(account, id)
    const cancelled = { ...response, status: 'cancelled' }
    const ended = live?.soFar.ending(cancelled) ?? cancelled
    const { body, items } = keptBody(ended, null)
    const kept = body === null ? cancelled : ended
    const text = JSON.stringify(kept)
    const count = await this.keeper.change({ kind: 'finish', account, id, body: text, items })
    if (count > 0) live?.end(kept)
    this.stop(account, id)
    return count > 0 ? kept : null
  }

  /** The process stops: resolves when everything begun here has ended and is stored, or cannot be stored. */
  async idle(): Promise<void> {
    this.keeper.stop()
    await Promise.all([...this.running.values()].map(({ ended }) => ended))
  }

  /** Stops the work, where it runs here. */
  stop(account: string, id: string): void {
    this.running.get(keyOf(account, id))?.work.cancel()
  }

  private async finish({ row, origin }: Queued, live: Live, response: JsonObject): Promise<void> {
    const { account, id } = row
    const { body, items } = keptBody(response, origin())
    const change = { kind: 'finish', account, id } as const
    const count = await this.keeper.insist({ ...change, body, items }).catch((error: unknown) => {
      this.onLost(error)
      return this.keeper.insist({ ...change, body: JSON.stringify(lost(response)), items: [] })
    })
    if (live.soFar.ended) return
    if (count > 0) {
      live.end(response)
      return
    }
    // The response was ended elsewhere, or removed.
    const found = await this.keeper.table.find(account, id, Date.now())
    const cancelled = { ...response, status: 'cancelled' }
    live.end(found?.body == null ? cancelled : (JSON.parse(found.body) as JsonObject))
  }

  private forget(key: string): void {
    this.running.delete(key)
    if (this.running.size > 0 || this.timer === null) return
    clearInterval(this.timer)
    this.timer = null
  }

  /** Stops responses that another node has ended. */
  private async look(): Promise<void> {
    // A slow database must not be asked again before it has answered.
    if (this.looking) return
    this.looking = true
    try {
      for (const { queued, work } of [...this.running.values()]) {
        const { account, id } = queued.row
        if (await this.keeper.table.ended(account, id)) work.cancel()
      }
    } finally {
      this.looking = false
    }
  }
}

function keyOf(account: string, id: string): string {
  return `${account}\0${id}`
}

/** The final response. */
async function finish({ response }: Queued, answer: Answer, live: Live): Promise<JsonObject> {
  const { body } = answer
  if (body instanceof Uint8Array) {
    return JSON.parse(Buffer.from(body).toString('utf8')) as JsonObject
  }
  // A reply too large to be held back is too large to be stored; it is read to its end for its usage.
  if (!answer.stream) await body.pipe(unheard)
  else if (await listen(body, live)) return live.soFar.last ?? cut(response)
  const error = { code: 'server_error', message: 'The response is too large to be kept.' }
  return { ...response, status: 'failed', error }
}

const unheard: ByteSink = { write: ({ length }) => length, end: () => undefined }

/** Reads a stream to its end; false where it is larger than what is stored. */
async function listen(body: ReplyStream, live: Live): Promise<boolean> {
  const { soFar } = live
  const frames = new ResponsesFrames()
  let fits = true
  await body.pipe({
    ...unheard,
    write(piece) {
      for (const data of frames.push(piece)) if (fits) soFar.event(JSON.parse(data) as JsonObject)
      fits &&= soFar.length <= maxKeptBytes
      if (!fits) soFar.forget()
      live.touch()
      return piece.length
    },
  })
  return fits
}

/** What is kept of a response that cannot be stored. */
function lost({ id, object, created_at: createdAt, model }: JsonObject): JsonObject {
  const known = { id, object, created_at: createdAt, model, background: true, output: [] }
  return failed(known, new GatewayError('server_error', 'The response could not be kept.'))
}

function cut(response: JsonObject): JsonObject {
  return failed(response, new GatewayError('server_error', 'The stream ended before its finish.'))
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
