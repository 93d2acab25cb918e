// The leases this node holds on shared places, and those that ended while the server was away.

import { ignoreLoss, type Link, scripts } from './valkey-link.ts'

/** The places of a node that died become free after this long. */
export const leaseMs = 30_000
const renewChunk = 500
/** The most ended leases remembered per scope while the server is away; others expire by themselves. */
const endedKept = 10_000

/** Leases by the key of their set on the server. */
export class SharedLeases {
  readonly #held = new Map<string, Set<string>>()
  readonly #ended = new Map<string, string[]>()

  hold(key: string, lease: string): void {
    const held = this.#held.get(key)
    if (held === undefined) this.#held.set(key, new Set([lease]))
    else held.add(lease)
  }

  holds(key: string, lease: string): boolean {
    return this.#held.get(key)?.has(lease) === true
  }

  /** Returns whether the lease was held. */
  release(key: string, lease: string): boolean {
    const held = this.#held.get(key)
    if (held?.delete(lease) !== true) return false
    if (held.size === 0) this.#held.delete(key)
    return true
  }

  /** Remembers a lease that ended while the server was away. */
  noteEnded(key: string, lease: string): void {
    const ended = this.#ended.get(key) ?? []
    if (ended.length < endedKept) ended.push(lease)
    this.#ended.set(key, ended)
  }

  /** Renews the held leases before they expire. */
  renew(link: Link): void {
    for (const [key, held] of this.#held) {
      const ids = [...held]
      for (let from = 0; from < ids.length; from += renewChunk) {
        const args = [String(leaseMs), ...ids.slice(from, from + renewChunk)]
        link.run(scripts.renew, [key], args).catch(ignoreLoss)
      }
    }
  }

  /** Removes from the server the leases that ended while it was away. */
  tellEnded(link: Link): void {
    for (const [key, ids] of this.#ended) link.client.send('ZREM', [key, ...ids]).catch(ignoreLoss)
    this.#ended.clear()
  }
}
