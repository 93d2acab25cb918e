// Keeps this node open in the ledger: opens it, renews it, and opens it again after another node has closed it.

import type { NodeRef, NodeTable } from '../store/ledger.ts'

interface Recalled {
  readonly accounts: readonly string[]
  /** Keys with a spend limit. */
  readonly keys: readonly string[]
}

interface NodeKeeperOptions {
  readonly nodes: NodeTable
  /** What this node leases and other nodes lack. */
  readonly recalled: (ref: NodeRef) => Promise<Recalled>
  readonly node: string
  readonly leaseMs: number
  readonly clock: {
    /** Monotonic milliseconds. */
    readonly nowMs: () => number
    /** Waits; rejects when the node is to stop. */
    readonly delay: (delayMs: number) => Promise<void>
  }
  /** `sinceMs`: the monotonic time just before the ledger was asked. */
  readonly onRenewed: (sinceMs: number) => void
  readonly onOpened: (ref: NodeRef) => void
  readonly onFenced: (ref: NodeRef) => void
  readonly onSwept: (refs: readonly NodeRef[]) => void
  /** A piece of work failed, and will be tried again. */
  readonly onFailure: (what: string, error: unknown) => void
  readonly onRecovered: (what: string) => void
}

const retryMs = 500

export class NodeKeeper {
  readonly #options: NodeKeeperOptions
  #ref: NodeRef | null = null
  #opening: Promise<void> | null = null

  constructor(options: NodeKeeperOptions) {
    this.#options = options
  }

  get ref(): NodeRef | null {
    return this.#ref
  }

  /** Opens the node, retrying as often as necessary; one opening at a time. */
  open(): Promise<void> {
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null
    })
    return this.#opening
  }

  async #open(): Promise<void> {
    const { nodes, node, leaseMs, clock, onRenewed, onOpened } = this.#options
    const ref = await this.insist('open', async () => {
      const sinceMs = clock.nowMs()
      const opened = await nodes.open(node, leaseMs)
      onRenewed(sinceMs)
      return opened
    })
    this.#ref = ref
    onOpened(ref)
  }

  /** Renews this node, and closes nodes that have not renewed in time. If this node was closed, opens it again. */
  async renew(): Promise<void> {
    const { nodes, leaseMs, clock, onRenewed, onSwept } = this.#options
    const ref = this.#ref
    if (ref === null) return
    const open = await this.insist('renew', async () => {
      const sinceMs = clock.nowMs()
      const renewed = await nodes.renew(ref, leaseMs)
      if (renewed) onRenewed(sinceMs)
      return renewed
    })
    if (!open) return this.fence(ref)
    await this.once('sweep', async () => {
      const swept = await nodes.sweep()
      if (swept.length > 0) onSwept(swept)
    })
  }

  /** Marks this epoch as over and opens a new one. Does nothing if a later one is already open. */
  async fence(ref: NodeRef): Promise<void> {
    if (this.#ref !== ref) return
    this.#ref = null
    this.#options.onFenced(ref)
    await this.open()
  }

  /** null: the node is not open, or the ledger cannot be reached. */
  async recalled(): Promise<Recalled | null> {
    const ref = this.#ref
    if (ref === null) return null
    return (await this.once('recall', () => this.#options.recalled(ref))) ?? null
  }

  /** Closes the node, which gives all its leases back. */
  async close(): Promise<void> {
    const ref = this.#ref
    this.#ref = null
    if (ref !== null) await this.#options.nodes.close(ref)
  }

  /** Tries the work once, where a later round repeats it anyway; undefined if it failed. */
  async once<Result>(what: string, work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      const result = await work()
      this.#options.onRecovered(what)
      return result
    } catch (error) {
      this.#options.onFailure(what, error)
      return undefined
    }
  }

  /** Repeats the work until it succeeds; rejects if the node is to stop. */
  async insist<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        const result = await work()
        this.#options.onRecovered(what)
        return result
      } catch (error) {
        this.#options.onFailure(what, error)
        await this.#options.clock.delay(retryMs)
      }
    }
  }
}
