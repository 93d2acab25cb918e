// What the ledger's worker reports to the serving thread: each kind of failure once, then the recovery.

import type { MessagePort } from 'node:worker_threads'
import type { FromWorker } from './messages.ts'
import { isSyncFailure } from './sync-failure.ts'

export class WorkerReport {
  readonly #port: Pick<MessagePort, 'postMessage'>
  readonly #failing = new Set<string>()

  constructor(port: Pick<MessagePort, 'postMessage'>) {
    this.#port = port
  }

  tell(message: FromWorker): void {
    this.#port.postMessage(message)
  }

  endProcess(error: unknown): void {
    this.tell({ kind: 'fatal', reason: String(error) })
  }

  failed(what: string, error: unknown): void {
    if (isSyncFailure(error)) this.endProcess(error)
    if (this.#failing.has(what)) return
    this.#failing.add(what)
    const fields = { what, error: String(error) }
    const message = 'the ledger could not be reached or written; trying again'
    this.tell({ kind: 'log', level: 'warn', fields, message })
  }

  recovered(what: string): void {
    if (!this.#failing.delete(what)) return
    this.tell({ kind: 'log', level: 'info', fields: { what }, message: 'the ledger works again' })
  }
}
