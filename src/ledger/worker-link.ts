// The serving thread's connection to the ledger's worker: questions and answers, and a new worker after one has died.

import { Worker } from 'node:worker_threads'
import type { Answers, FromWorker, Question, ToWorker, WorkerStart } from './messages.ts'

interface WorkerLinkOptions {
  /** The worker's entry module. */
  readonly script: URL | string
  /** Called for the start data of each new worker. */
  readonly start: () => WorkerStart
  /** Receives every message that is not an answer. */
  readonly onMessage: (message: Exclude<FromWorker, Reply>) => void
  /** The worker died; another starts after `retryMs`. */
  readonly onDeath: (error: unknown, retryMs: number) => void
}

type Reply = Extract<FromWorker, { kind: 'answer' | 'refusal' }>

interface Pending {
  readonly resolve: (answer: Answers[keyof Answers]) => void
  readonly reject: (error: Error) => void
}

const firstRetryMs = 100
const slowestRetryMs = 2_000
/** A worker that lived this long did not fail because of its start, so the next retry is quick again. */
const settledInMs = 10_000

export class WorkerLink {
  readonly #options: WorkerLinkOptions
  readonly #pending = new Map<number, Pending>()
  #worker: Worker | null = null
  #nextId = 1
  #retryMs = firstRetryMs
  #startedAtMs = 0
  #restart: ReturnType<typeof setTimeout> | null = null
  #closed = false

  constructor(options: WorkerLinkOptions) {
    this.#options = options
    this.#startWorker()
  }

  /** Rejects if the worker refuses, or dies before it answers. */
  ask<Kind extends Question['ask']>(
    question: Extract<Question, { ask: Kind }>,
  ): Promise<Answers[Kind]> {
    const worker = this.#worker
    if (worker === null) return Promise.reject(new Error('The worker of the ledger is starting.'))
    const id = this.#nextId
    this.#nextId += 1
    const answered = new Promise<Answers[keyof Answers]>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
    })
    worker.postMessage({ kind: 'question', id, question } satisfies ToWorker)
    return answered as Promise<Answers[Kind]>
  }

  /** Dropped while no worker runs, because the next worker lacks the state that the message refers to. */
  tell(message: ToWorker): void {
    this.#worker?.postMessage(message)
  }

  /** Terminates the worker at once; pending questions are rejected. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#restart !== null) clearTimeout(this.#restart)
    const worker = this.#worker
    this.#worker = null
    this.#rejectAll('The ledger is closed.')
    await worker?.terminate()
  }

  #startWorker(): void {
    const { script, start, onMessage } = this.#options
    const worker = new Worker(script, { workerData: start() })
    this.#startedAtMs = performance.now()
    this.#worker = worker
    let failure: unknown = null
    worker.on('message', (message: FromWorker) => {
      if (this.#worker !== worker) return
      if (message.kind === 'answer' || message.kind === 'refusal') this.#settle(message)
      else onMessage(message)
    })
    worker.on('error', (error) => {
      failure = error
    })
    worker.on('exit', (code) => this.#died(worker, failure ?? new Error(`it ended with ${code}`)))
  }

  #settle(reply: Reply): void {
    const pending = this.#pending.get(reply.id)
    this.#pending.delete(reply.id)
    if (reply.kind === 'answer') pending?.resolve(reply.answer)
    else pending?.reject(new Error(reply.reason))
  }

  #died(worker: Worker, error: unknown): void {
    if (this.#worker !== worker || this.#closed) return
    this.#worker = null
    this.#rejectAll('The worker of the ledger has ended.')
    if (performance.now() - this.#startedAtMs > settledInMs) this.#retryMs = firstRetryMs
    this.#options.onDeath(error, this.#retryMs)
    this.#restart = setTimeout(() => this.#startWorker(), this.#retryMs)
    this.#retryMs = Math.min(this.#retryMs * 2, slowestRetryMs)
  }

  #rejectAll(reason: string): void {
    const pending = [...this.#pending.values()]
    this.#pending.clear()
    for (const { reject } of pending) reject(new Error(reason))
  }
}
