// Limits shared by all nodes through Valkey or Redis, and kept alone while the server is away.

import { createHash, randomUUID } from 'node:crypto'
import { RedisClient } from 'bun'
import type { ScopeUse } from './book.ts'
import { Book, judge, limiting, partOf, stateOf } from './book.ts'
import { cost, unitsPerItem } from './gcra.ts'
import type { Admitted, Limiter, LimitScope, LimitState, Refused } from './limiter.ts'
import { free } from './local.ts'
import { adjustScript, admitScript, beatScript, renewScript } from './valkey-scripts.ts'

interface ValkeyOptions {
  readonly url: string
  /** How many nodes share the limits until they were counted. */
  readonly nodes: number
  /** Called on each change, with the reason in words. */
  readonly onState: (state: 'shared' | 'local', reason: string) => void
  /** Prefix of every key; nodes share what they share it with. */
  readonly namespace?: string
}

/** A call that takes longer is answered locally, and the server held to be away. */
const budgetMs = 250
const connectMs = 1_000
/** How often an absent server is tried, and a present one notified that this node lives. */
const retryMs = 500
const beatMs = 5_000
const nodeMs = 15_000
/** A node that dies gives its places back after this long. */
const leaseMs = 30_000
/** A connection that has not answered for this long is given up for a new one. */
const hungMs = 10_000
const renewChunk = 500
/** Ended leases remembered by scope while the server is away; the rest lapse by themselves. */
const endedKept = 10_000

interface Script {
  readonly text: string
  readonly sha: string
}

const scripts = {
  admit: script(admitScript),
  adjust: script(adjustScript),
  beat: script(beatScript),
  renew: script(renewScript),
}

function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

/** One connection, never reconnected: what was sent on it is answered in order or rejected. */
class Link {
  readonly client: RedisClient
  readonly openedAt = performance.now()
  /** When the sign of life that is still unanswered was sent. */
  beatSentAt: number | null = null
  /** Nodes have had the time to show themselves on this connection. */
  settled = false

  constructor(url: string) {
    this.client = new RedisClient(url, {
      autoReconnect: false,
      enableOfflineQueue: false,
      connectionTimeout: connectMs,
    })
  }

  async run(of: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const rest = [String(keys.length), ...keys, ...args]
    try {
      return await this.client.send('EVALSHA', [of.sha, ...rest])
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
      return this.client.send('EVAL', [of.text, ...rest])
    }
  }
}

/** A scope under this node's part of its limits, with the whole it is a part of. */
interface Part extends LimitScope {
  readonly whole: LimitScope
}

interface Reply {
  readonly refusal: Omit<Refused, 'state'> | null
  readonly state: LimitState
}

/** A limiter over `url`. Local at first; `onState` tells when it is shared. */
export function createValkeyLimiter(options: ValkeyOptions): Limiter {
  return new ValkeyLimiter(options)
}

class ValkeyLimiter implements Limiter {
  readonly #options: ValkeyOptions
  readonly #prefix: string
  readonly #node = randomUUID()
  /** All this node has in use under its part of each limit: what it goes by while alone. */
  readonly #own = new Book<Part>()
  /** What of `#own` the server knows of, for scopes where it does not know all. */
  readonly #known = new Book<Part>((id) => !this.#own.has(id))
  /** Leases held, and leases ended without the server's knowledge, by key of the set they are in. */
  readonly #leases = new Map<string, Set<string>>()
  readonly #ended = new Map<string, string[]>()
  readonly #parts = new WeakMap<object, { nodes: number; part: Part }>()
  #link: Link | null = null
  #shared = false
  #reported: 'shared' | 'local' | null = null
  #closed = false
  #nodes: number
  #mark: string | null = null
  #serial = 0
  #clockOffsetMs = 0
  #timer: ReturnType<typeof setTimeout> | null = null

  constructor(options: ValkeyOptions) {
    this.#options = options
    this.#prefix = `{${options.namespace ?? 'tollgate'}:limits}`
    this.#nodes = Math.max(1, options.nodes)
    this.#tick()
  }

  admit(
    asked: readonly LimitScope[],
    tokens: number,
    nowMs: number,
  ): Admitted | Refused | Promise<Admitted | Refused> {
    const scopes = limiting(asked)
    if (scopes.length === 0) return free
    this.#clockOffsetMs = nowMs - performance.now()
    const lease = `${this.#node}:${++this.#serial}`
    const parts = scopes.map((scope) => this.#part(scope))
    const link = this.#link
    if (!this.#shared || link === null) return this.#admitAlone(parts, tokens, nowMs, lease)
    return this.#admitShared(link, parts, tokens, lease)
  }

  async close(): Promise<void> {
    this.#closed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    const link = this.#link
    this.#link = null
    this.#shared = false
    if (link === null) return
    await within(budgetMs, link.client.send('ZREM', [this.#nodesKey, this.#node]))
    link.client.close()
  }

  get #nodesKey(): string {
    return `${this.#prefix}:nodes`
  }

  #keys(scope: LimitScope): [meters: string, leases: string] {
    return [`${this.#prefix}:m:${scope.id}`, `${this.#prefix}:c:${scope.id}`]
  }

  #nowMs(): number {
    return performance.now() + this.#clockOffsetMs
  }

  #part(whole: LimitScope): Part {
    const found = this.#parts.get(whole.limits)
    if (found?.nodes === this.#nodes && found.part.id === whole.id) return found.part
    const part = { id: whole.id, limits: partOf(whole.limits, this.#nodes), whole }
    this.#parts.set(whole.limits, { nodes: this.#nodes, part })
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
      this.#goLocal('no answer in time')
      const decision = this.#admitAlone(parts, tokens, this.#nowMs(), lease)
      call.then((late) => this.#servedLate(link, parts, tokens, lease, late), ignoreLoss)
      return decision
    }
    const { refusal, state } = reply
    if (refusal !== null) return { ...refusal, state }
    const nowMs = this.#nowMs()
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
    if (!admitted && refusal === null) throw new Error('the server refused what fits')
    return { refusal, state: stateOf(scopes, uses) }
  }

  /** A call given up has been served all the same: the server then knows of what was taken. */
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
      if (this.#shared) this.#adjust(part, -requests, -units, '')
      else {
        this.#note(part)
        this.#known.add(part, requests, units, this.#nowMs())
      }
      const [, leases] = this.#keys(part)
      if (this.#leases.get(leases)?.has(lease) !== true)
        link.client.send('ZREM', [leases, lease]).catch(ignoreLoss)
    }
  }

  #admitted(parts: readonly Part[], taken: number, lease: string, state: LimitState): Admitted {
    for (const part of parts) {
      if (part.limits.concurrentRequests === undefined) continue
      const [, leases] = this.#keys(part)
      const held = this.#leases.get(leases)
      if (held === undefined) this.#leases.set(leases, new Set([lease]))
      else held.add(lease)
    }
    let finished = false
    return {
      admitted: true,
      state,
      finish: (tokens, nowMs) => {
        if (finished) return
        finished = true
        this.#clockOffsetMs = nowMs - performance.now()
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
    if (!this.#shared) for (const part of parts) this.#note(part)
    this.#own.finish(parts, taken, tokens, nowMs)
    if (this.#shared) this.#own.cap(parts, nowMs)
    for (const part of parts) {
      const [, key] = this.#keys(part)
      const held = this.#leases.get(key)
      if (held?.delete(lease) === true && held.size === 0) this.#leases.delete(key)
      const limited = part.limits.tokensPerMinute !== undefined
      const units = limited ? tokens * unitsPerItem - charge(part.whole, taken)[1] : 0
      if (this.#shared) this.#adjust(part, 0, units, held === undefined ? '' : lease)
      else if (held !== undefined) this.#noteEnded(key, lease)
    }
  }

  #adjust(part: Part, requests: number, tokens: number, lease: string): void {
    if (requests === 0 && tokens === 0 && lease === '') return
    const args = [...rates(part.whole), String(requests), String(tokens), lease]
    this.#link
      ?.run(scripts.adjust, this.#keys(part), args)
      .catch(() => this.#note(part, requests, tokens))
  }

  /** From here on the server does not know all of this scope's use: all but the units given. */
  #note(part: Part, requests = 0, tokens = 0): void {
    const nowMs = this.#nowMs()
    if (!this.#known.has(part.id)) {
      const [use] = this.#own.uses([part], nowMs)
      this.#known.add(part, use?.requests ?? 0, use?.tokens ?? 0, nowMs)
    }
    this.#known.add(part, -requests, -tokens, nowMs)
  }

  #noteEnded(key: string, lease: string): void {
    const ended = this.#ended.get(key) ?? []
    if (ended.length < endedKept) ended.push(lease)
    this.#ended.set(key, ended)
  }

  /** Opens a connection where there is none, gives a sign of life where there is one. */
  #tick(): void {
    if (this.#closed) return
    const link = this.#link
    if (link === null) void this.#connect()
    else if (link.beatSentAt === null) void this.#beat(link)
    else if (performance.now() - link.beatSentAt > hungMs) this.#drop(link, 'hung')
    else if (this.#shared) this.#goLocal('no sign of life')
    this.#schedule()
  }

  #schedule(): void {
    if (this.#closed) return
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#tick(), this.#shared ? beatMs : retryMs)
    this.#timer.unref()
  }

  async #connect(): Promise<void> {
    const link = new Link(this.#options.url)
    this.#link = link
    link.beatSentAt = link.openedAt
    link.client.onclose = (error) => this.#drop(link, reason(error))
    try {
      await link.client.connect()
      await Promise.all(
        Object.values(scripts).map(({ text }) => link.client.send('SCRIPT', ['LOAD', text])),
      )
    } catch (error) {
      this.#drop(link, reason(error))
      return
    }
    if (this.#link === link) await this.#beat(link)
  }

  async #beat(link: Link): Promise<void> {
    const sentAt = performance.now()
    link.beatSentAt = sentAt
    try {
      const args = [this.#node, String(nodeMs), randomUUID()]
      const reply = await link.run(scripts.beat, [this.#nodesKey, `${this.#prefix}:mark`], args)
      if (!Array.isArray(reply)) throw new Error('the server gave an unexpected reply')
      link.beatSentAt = null
      if (this.#link === link) this.#alive(link, reply, performance.now() - sentAt)
    } catch (error) {
      this.#drop(link, reason(error))
    }
  }

  #alive(link: Link, reply: readonly unknown[], tookMs: number): void {
    // Just after a restart the others have not shown themselves: then the count only grows.
    const counted = Number(reply[0])
    this.#nodes = Math.max(1, link.settled ? counted : Math.max(counted, this.#nodes))
    link.settled = performance.now() - link.openedAt > beatMs
    const mark = String(reply[1])
    const lost = this.#mark !== null && this.#mark !== mark
    this.#renew(link)
    if (!lost && (this.#shared || tookMs > budgetMs)) return
    this.#mark = mark
    this.#shared = true
    this.#catchUp(link, lost)
    this.#schedule()
    this.#tell('shared', `${this.#nodes} nodes`)
  }

  #renew(link: Link): void {
    for (const [key, held] of this.#leases) {
      const ids = [...held]
      for (let from = 0; from < ids.length; from += renewChunk) {
        const args = [String(leaseMs), ...ids.slice(from, from + renewChunk)]
        link.run(scripts.renew, [key], args).catch(ignoreLoss)
      }
    }
  }

  /** Tells a server that was away what it missed; all this node has in use if it lost its memory. */
  #catchUp(link: Link, lost: boolean): void {
    const nowMs = this.#nowMs()
    const from = lost ? this.#own : this.#known
    const before = new Map(lost ? [] : this.#known.all(nowMs).map(([part, use]) => [part.id, use]))
    for (const part of [...from.all(nowMs)].map(([scope]) => scope)) {
      const [use] = this.#own.uses([part], nowMs)
      const known = before.get(part.id)
      const requests = (use?.requests ?? 0) - (known?.requests ?? 0)
      const tokens = (use?.tokens ?? 0) - (known?.tokens ?? 0)
      this.#adjust(part, requests, tokens, '')
    }
    for (const [key, ids] of this.#ended) link.client.send('ZREM', [key, ...ids]).catch(ignoreLoss)
    this.#ended.clear()
    this.#known.clear()
  }

  #goLocal(why: string): void {
    this.#shared = false
    this.#schedule()
    this.#tell('local', why)
  }

  #drop(link: Link, why: string): void {
    if (this.#link !== link || this.#closed) return
    this.#link = null
    this.#goLocal(why)
    link.client.close()
  }

  #tell(state: 'shared' | 'local', why: string): void {
    if (this.#reported === state || this.#closed) return
    this.#reported = state
    this.#options.onState(state, why)
  }
}

/** Requests and tokens a minute as the scripts take them: -1 for no limit. */
function rates({ limits }: LimitScope): [requests: string, tokens: string] {
  return [String(limits.requestsPerMinute ?? -1), String(limits.tokensPerMinute ?? -1)]
}

/** What one request takes from a scope's meters, in units. */
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

/** The value, or undefined where it fails or is not there in time. */
function within<T>(limitMs: number, promise: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, limitMs, undefined)
    const end = (value: T | undefined) => {
      clearTimeout(timer)
      resolve(value)
    }
    promise.then(end, () => end(undefined))
  })
}

/** For calls whose loss is repaired elsewhere: a lease lapses, and a dead link is noticed by its beat. */
function ignoreLoss(): undefined {
  return undefined
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
