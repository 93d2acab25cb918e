// A store in a separate thread, so that its calls do not block the thread that serves requests.

import { Worker } from 'node:worker_threads'
import { moduleAt } from '../installation.ts'
import { RowRefused, type Store } from './store.ts'

/** One call of one method; `table` is null for methods of the store itself. */
export interface StoreCall {
  readonly id: number
  readonly table: string | null
  readonly method: string
  readonly args: readonly unknown[]
}

export type StoreReply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failure: StoreFailure }

interface StoreFailure {
  readonly message: string
  readonly code: string | null
  readonly refused: boolean
}

export function failureOf(error: unknown): StoreFailure {
  const code = error instanceof Error && 'code' in error ? error.code : null
  return {
    message: error instanceof Error ? error.message : String(error),
    code: typeof code === 'string' ? code : null,
    refused: error instanceof RowRefused,
  }
}

interface Pending {
  resolve(result: unknown): void
  reject(error: Error): void
}

/**
 * A store on SQLite, whose calls block their thread: reading many rows would delay requests. Has every method of a store
 * except those with function arguments (`audit.run`). `close` ends it, and rejects pending calls. If the thread dies,
 * pending calls are rejected, `died` is called, and the next call starts another thread.
 */
export function openStoreThread(dataDir: string, died: (error: Error) => void): Store {
  const link = new StoreLink(dataDir, died)
  const tables = new Map<string, unknown>()
  const tableOf = (table: string) =>
    new Proxy({}, { get: (_, method) => link.method(table, String(method)) })
  // Every property is a table, except those named here.
  const own: Partial<Store> = {
    engine: 'sqlite',
    ping: () => link.call(null, 'ping', []) as Promise<void>,
    close: () => link.close(),
  }
  return new Proxy(own, {
    get(_, name) {
      if (typeof name !== 'string' || name === 'then') return undefined
      if (name in own) return own[name as keyof Store]
      const table = tables.get(name) ?? tableOf(name)
      tables.set(name, table)
      return table
    },
  }) as Store
}

class StoreLink {
  readonly #dataDir: string
  readonly #died: (error: Error) => void
  readonly #pending = new Map<number, Pending>()
  #worker: Worker | null = null
  #nextId = 1
  #closed = false

  constructor(dataDir: string, died: (error: Error) => void) {
    this.#dataDir = dataDir
    this.#died = died
  }

  method(table: string, method: string) {
    return (...args: readonly unknown[]) => this.call(table, method, args)
  }

  call(table: string | null, method: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#closed) return Promise.reject(new Error('The store is closed.'))
    const worker = this.#started()
    const id = this.#nextId
    this.#nextId += 1
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
      worker.ref()
      worker.postMessage({ id, table, method, args } satisfies StoreCall)
    })
  }

  async close(): Promise<void> {
    if (this.#closed) return
    const worker = this.#worker
    if (worker !== null) await this.call(null, 'close', [])
    this.#closed = true
    this.#reject(new Error('The store is closed.'))
    await worker?.terminate()
  }

  #started(): Worker {
    if (this.#worker !== null) return this.#worker
    const worker = new Worker(moduleAt(new URL('./thread-main.ts', import.meta.url)), {
      workerData: this.#dataDir,
    })
    this.#worker = worker
    // The process may exit while no call is pending.
    worker.unref()
    worker.on('message', (reply: StoreReply) => this.#settle(reply))
    worker.on('error', (cause) => this.#end(worker, cause))
    worker.on('exit', () => this.#end(worker))
    return worker
  }

  #settle(reply: StoreReply): void {
    const pending = this.#pending.get(reply.id)
    this.#pending.delete(reply.id)
    if (this.#pending.size === 0) this.#worker?.unref()
    if ('result' in reply) pending?.resolve(reply.result)
    else pending?.reject(errorOf(reply.failure))
  }

  /** A thread that dies of an error also exits. */
  #end(worker: Worker, cause?: unknown): void {
    if (this.#closed || this.#worker !== worker) return
    this.#worker = null
    const error = new Error('The thread of the store has ended.', { cause })
    this.#reject(error)
    this.#died(error)
  }

  #reject(error: Error): void {
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
  }
}

function errorOf({ message, code, refused }: StoreFailure): Error {
  if (refused) return new RowRefused(message)
  const error = new Error(message)
  return code === null ? error : Object.assign(error, { code })
}
