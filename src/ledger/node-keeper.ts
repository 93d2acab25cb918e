// Keeps this node open in the ledger: opened, renewed, opened anew where another node closed it.

import type { LeaseTable, NodeRef, NodeTable } from '../store/ledger.ts'

interface NodeKeeperOptions {
  readonly nodes: NodeTable
  readonly leases: Pick<LeaseTable, 'recalled'>
  readonly node: string
  readonly leaseMs: number
  readonly clock: {
    /** Monotonic milliseconds. */
    readonly nowMs: () => number
    /** Waits; rejects when the node is to stop. */
    readonly delay: (delayMs: number) => Promise<void>
  }
  /** `sinceMs`: just before the ledger was asked. */
  readonly onRenewed: (sinceMs: number) => void
  readonly onOpened: (ref: NodeRef) => void
  readonly onFenced: (ref: NodeRef) => void
  readonly onSwept: (refs: readonly NodeRef[]) => void
  /** What was tried could not be done, and is tried again. */
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

  /** null while the node is not open. */
  get ref(): NodeRef | null {
    return this.#ref
  }

  /** Opens the node, however often that must be tried; one opening at a time. */
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

  /** Renews, and closes other nodes that have not. Where this one was closed it is opened anew. */
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

  /** This epoch is dead. Does nothing where a later one is open already. */
  async fence(ref: NodeRef): Promise<void> {
    if (this.#ref !== ref) return
    this.#ref = null
    this.#options.onFenced(ref)
    await this.open()
  }

  async recalled(): Promise<readonly string[]> {
    const ref = this.#ref
    if (ref === null) return []
    const accounts = await this.once('recall', () => this.#options.leases.recalled(ref))
    return accounts ?? []
  }

  /** Gives all leases back. */
  async close(): Promise<void> {
    const ref = this.#ref
    this.#ref = null
    if (ref !== null) await this.#options.nodes.close(ref)
  }

  /** Tried once, for what comes round again anyway; undefined where it failed. */
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

  /** Tried until it is done; rejects where the node is to stop. */
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
