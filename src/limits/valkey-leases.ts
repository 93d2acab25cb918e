// The leases of a node on places that a server shares: those it holds, and those that ended while the server was away.

import { ignoreLoss, type Link, scripts } from './valkey-link.ts'

/** A node that dies gives its places back after this long. */
export const leaseMs = 30_000
const renewChunk = 500
/** Ended leases remembered by scope while the server is away; the rest lapse by themselves. */
const endedKept = 10_000

/** By the key of the set they are in. */
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

  /** Whether it was held. */
  release(key: string, lease: string): boolean {
    const held = this.#held.get(key)
    if (held?.delete(lease) !== true) return false
    if (held.size === 0) this.#held.delete(key)
    return true
  }

  /** It has ended without the server's knowledge. */
  noteEnded(key: string, lease: string): void {
    const ended = this.#ended.get(key) ?? []
    if (ended.length < endedKept) ended.push(lease)
    this.#ended.set(key, ended)
  }

  /** Keeps those held from lapsing. */
  renew(link: Link): void {
    for (const [key, held] of this.#held) {
      const ids = [...held]
      for (let from = 0; from < ids.length; from += renewChunk) {
        const args = [String(leaseMs), ...ids.slice(from, from + renewChunk)]
        link.run(scripts.renew, [key], args).catch(ignoreLoss)
      }
    }
  }

  /** Tells the server of those that ended meanwhile. */
  tellEnded(link: Link): void {
    for (const [key, ids] of this.#ended) link.client.send('ZREM', [key, ...ids]).catch(ignoreLoss)
    this.#ended.clear()
  }
}
