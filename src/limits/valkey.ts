// Limits shared by all nodes through Valkey or Redis, and enforced by each node alone while the server is away.

import type { ScopeUse } from './book.ts'
import { Book, judge, limiting, partOf, stateOf } from './book.ts'
import { cost, unitsPerItem } from './gcra.ts'
import type { Admitted, Limiter, LimitScope, LimitState, Refused } from './limiter.ts'
import { free } from './local.ts'
import { leaseMs, SharedLeases } from './valkey-leases.ts'
import {
  budgetMs,
  ignoreLoss,
  type Link,
  LinkKeeper,
  type LinkOptions,
  scripts,
  within,
} from './valkey-link.ts'

interface ValkeyOptions extends LinkOptions {
  /** Prefix of every key; nodes with the same prefix share their limits. */
  readonly namespace?: string
}

/** A scope with this node's share of its limits, and the whole scope it is a share of. */
interface Part extends LimitScope {
  readonly whole: LimitScope
}

interface Reply {
  readonly refusal: Omit<Refused, 'state'> | null
  readonly state: LimitState
}

/** Creates a limiter over the server at `url`. Local at first; `onState` reports when it is shared. */
export function createValkeyLimiter(options: ValkeyOptions): Limiter {
  return new ValkeyLimiter(options)
}

class ValkeyLimiter implements Limiter {
  readonly #prefix: string
  readonly #server: LinkKeeper
  readonly #leases = new SharedLeases()
  /** All use of this node under its share of each limit: what it judges by while alone. */
  readonly #own = new Book<Part>()
  /** The part of `#own` that the server knows, kept for scopes of which it does not know all. */
  readonly #known = new Book<Part>((id) => !this.#own.has(id))
  readonly #parts = new WeakMap<object, { nodes: number; part: Part }>()
  #serial = 0

  constructor(options: ValkeyOptions) {
    this.#prefix = `{${options.namespace ?? 'tollgate'}:limits}`
    this.#server = new LinkKeeper(options, this.#prefix, {
      alive: (link) => this.#leases.renew(link),
      returned: (link, lost) => this.#catchUp(link, lost),
    })
  }

  admit(
    asked: readonly LimitScope[],
    tokens: number,
    nowMs: number,
  ): Admitted | Refused | Promise<Admitted | Refused> {
    const scopes = limiting(asked)
    if (scopes.length === 0) return free
    const { link, shared, node } = this.#server
    const lease = `${node}:${++this.#serial}`
    const parts = scopes.map((scope) => this.#part(scope))
    if (!shared || link === null) return this.#admitAlone(parts, tokens, nowMs, lease)
    return this.#admitShared(link, parts, tokens, lease)
  }

  state(scope: LimitScope, nowMs: number): LimitState | Promise<LimitState> {
    const { link, shared } = this.#server
    const part = this.#part(scope)
    const alone = () => stateOf([part], this.#own.uses([part], nowMs))
    if (!shared || link === null) return alone()
    const asked = link.run(scripts.read, this.#keys(scope), rates(scope)).then((reply) => {
      const [requests = 0, tokens = 0] = Array.isArray(reply) ? reply.map(Number) : []
      return stateOf([scope], [{ requests, tokens, inFlight: 0 }])
    })
    return within(budgetMs, asked).then((found) => found ?? alone(), alone)
  }

  close(): Promise<void> {
    return this.#server.close()
  }

  #keys(scope: LimitScope): [meters: string, leases: string] {
    return [`${this.#prefix}:m:${scope.id}`, `${this.#prefix}:c:${scope.id}`]
  }

  #part(whole: LimitScope): Part {
    const { nodes } = this.#server
    const found = this.#parts.get(whole.limits)
    if (found?.nodes === nodes && found.part.id === whole.id) return found.part
    const part = { id: whole.id, limits: partOf(whole.limits, nodes), whole }
    this.#parts.set(whole.limits, { nodes, part })
    return part
  }

  #admitAlone(
    parts: readonly Part[],
    tokens: number,
    nowMs: number,
    lease: string,
  ): Admitted | Refused {
    const uses = this.#own.uses(parts, nowMs)
    const refusal = judge(parts, uses, tokens)
    if (refusal !== null) return { ...refusal, state: stateOf(parts, uses) }
    for (const part of parts) this.#note(part)
    this.#own.take(parts, tokens, nowMs)
    const state = stateOf(parts, this.#own.uses(parts, nowMs))
    return this.#admitted(parts, tokens, lease, state)
  }

  async #admitShared(
    link: Link,
    parts: readonly Part[],
    tokens: number,
    lease: string,
  ): Promise<Admitted | Refused> {
    const call = this.#call(link, parts, tokens, lease)
    const reply = await within(budgetMs, call)
    if (reply === undefined) {
      this.#server.goLocal('no answer in time')
      const decision = this.#admitAlone(parts, tokens, performance.now(), lease)
      call.then((late) => this.#servedLate(link, parts, tokens, lease, late), ignoreLoss)
      return decision
    }
    const { refusal, state } = reply
    if (refusal !== null) return { ...refusal, state }
    const nowMs = performance.now()
    this.#own.take(parts, tokens, nowMs)
    this.#own.cap(parts, nowMs)
    return this.#admitted(parts, tokens, lease, state)
  }

  async #call(link: Link, parts: readonly Part[], tokens: number, lease: string): Promise<Reply> {
    const scopes = parts.map(({ whole }) => whole)
    const keys: string[] = []
    const args = [lease, String(leaseMs)]
    for (const scope of scopes) {
      keys.push(...this.#keys(scope))
      const { concurrentRequests = -1 } = scope.limits
      args.push(...rates(scope), String(concurrentRequests), String(charge(scope, tokens)[1]))
    }
    const [admitted, uses] = readUses(await link.run(scripts.admit, keys, args), scopes.length)
    const refusal = admitted ? null : judge(scopes, uses, tokens)
    if (!admitted && refusal === null)
      throw new Error('the server refused a request that is within the limits')
    return { refusal, state: stateOf(scopes, uses) }
  }

  /** A call that timed out was served after all: corrects what the server and this node know. */
  #servedLate(
    link: Link,
    parts: readonly Part[],
    tokens: number,
    lease: string,
    reply: Reply,
  ): void {
    if (reply.refusal !== null) return
    for (const part of parts) {
      const [requests, units] = charge(part, tokens)
      if (this.#server.shared) this.#adjust(part, -requests, -units, '')
      else {
        this.#note(part)
        this.#known.add(part, requests, units, performance.now())
      }
      const [, leases] = this.#keys(part)
      if (!this.#leases.holds(leases, lease))
        link.client.send('ZREM', [leases, lease]).catch(ignoreLoss)
    }
  }

  #admitted(parts: readonly Part[], taken: number, lease: string, state: LimitState): Admitted {
    for (const part of parts) {
      if (part.limits.concurrentRequests === undefined) continue
      const [, leases] = this.#keys(part)
      this.#leases.hold(leases, lease)
    }
    let finished = false
    return {
      admitted: true,
      state,
      finish: (tokens, nowMs) => {
        if (finished) return
        finished = true
        this.#finish(parts, taken, tokens, nowMs, lease)
      },
    }
  }

  #finish(
    parts: readonly Part[],
    taken: number,
    tokens: number,
    nowMs: number,
    lease: string,
  ): void {
    const { shared } = this.#server
    if (!shared) for (const part of parts) this.#note(part)
    this.#own.finish(parts, taken, tokens, nowMs)
    if (shared) this.#own.cap(parts, nowMs)
    for (const part of parts) {
      const [, key] = this.#keys(part)
      const held = this.#leases.release(key, lease)
      const limited = part.limits.tokensPerMinute !== undefined
      const units = limited ? tokens * unitsPerItem - charge(part.whole, taken)[1] : 0
      if (shared) this.#adjust(part, 0, units, held ? lease : '')
      else if (held) this.#leases.noteEnded(key, lease)
    }
  }

  #adjust(part: Part, requests: number, tokens: number, lease: string): void {
    if (requests === 0 && tokens === 0 && lease === '') return
    const args = [...rates(part.whole), String(requests), String(tokens), lease]
    this.#server.link
      ?.run(scripts.adjust, this.#keys(part), args)
      .catch(() => this.#note(part, requests, tokens))
  }

  /** Marks a scope as not fully known to the server: it knows this node's use except the given units. */
  #note(part: Part, requests = 0, tokens = 0): void {
    const nowMs = performance.now()
    if (!this.#known.has(part.id)) {
      const [use] = this.#own.uses([part], nowMs)
      this.#known.add(part, use?.requests ?? 0, use?.tokens ?? 0, nowMs)
    }
    this.#known.add(part, -requests, -tokens, nowMs)
  }

  /** Sends a returned server what it missed; if it lost its data, all use of this node. */
  #catchUp(link: Link, lost: boolean): void {
    const nowMs = performance.now()
    const from = lost ? this.#own : this.#known
    const before = new Map(lost ? [] : this.#known.all(nowMs).map(([part, use]) => [part.id, use]))
    for (const part of [...from.all(nowMs)].map(([scope]) => scope)) {
      const [use] = this.#own.uses([part], nowMs)
      const known = before.get(part.id)
      const requests = (use?.requests ?? 0) - (known?.requests ?? 0)
      const tokens = (use?.tokens ?? 0) - (known?.tokens ?? 0)
      this.#adjust(part, requests, tokens, '')
    }
    this.#leases.tellEnded(link)
    this.#known.clear()
  }
}

/** Requests and tokens per minute as the scripts expect them: -1 for no limit. */
function rates({ limits }: LimitScope): [requests: string, tokens: string] {
  return [String(limits.requestsPerMinute ?? -1), String(limits.tokensPerMinute ?? -1)]
}

/** The units that one request takes from a scope's meters. */
function charge({ limits }: LimitScope, tokens: number): [requests: number, tokens: number] {
  const { requestsPerMinute, tokensPerMinute } = limits
  return [
    requestsPerMinute === undefined ? 0 : unitsPerItem,
    tokensPerMinute === undefined ? 0 : cost(tokens, tokensPerMinute),
  ]
}

function readUses(reply: unknown, scopes: number): [admitted: boolean, uses: ScopeUse[]] {
  if (!Array.isArray(reply) || reply.length !== 1 + 3 * scopes)
    throw new Error('the server gave an unexpected reply')
  const numbers = reply.map(Number)
  const uses: ScopeUse[] = []
  for (let at = 1; at < numbers.length; at += 3) {
    const [requests = 0, tokens = 0, inFlight = 0] = numbers.slice(at, at + 3)
    uses.push({ requests, tokens, inFlight })
  }
  return [numbers[0] === 1, uses]
}
