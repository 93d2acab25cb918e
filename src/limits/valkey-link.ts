// The connection to the server that shares the limits: reopened when lost, and checked by a heartbeat.

import { createHash, randomUUID } from 'node:crypto'
import { RedisClient } from 'bun'
import { adjustScript, admitScript, beatScript, readScript, renewScript } from './valkey-scripts.ts'

export interface LinkOptions {
  readonly url: string
  /** How many nodes to expect before they have been counted. */
  readonly nodes: number
  /** Called on each change, with the reason as text. */
  readonly onState: (state: 'shared' | 'local', reason: string) => void
}

/** Reacts to the server's coming and going. */
interface LinkListener {
  /** A heartbeat was answered: time to renew what is held on the server. */
  alive(link: Link): void
  /** The limits are shared again. `lost`: the server has lost all its data. */
  returned(link: Link, lost: boolean): void
}

/** A call that takes longer is answered locally, and the server counts as away. */
export const budgetMs = 250
const connectMs = 1_000
/** How often an absent server is tried, and a present one gets this node's heartbeat. */
const retryMs = 500
const beatMs = 5_000
const nodeMs = 15_000
/** A connection without an answer for this long is replaced by a new one. */
const hungMs = 10_000

interface Script {
  readonly text: string
  readonly sha: string
}

export const scripts = {
  admit: script(admitScript),
  read: script(readScript),
  adjust: script(adjustScript),
  beat: script(beatScript),
  renew: script(renewScript),
}

function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

/** One connection, never reconnected: every command on it is answered in order or rejected. */
export class Link {
  readonly client: RedisClient
  readonly openedAt = performance.now()
  /** When the heartbeat that is still unanswered was sent. */
  beatSentAt: number | null = null
  /** All nodes have had time to send their heartbeat since this connection opened. */
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

/** Maintains one link to the server, counts the nodes that share it, and knows whether limits are shared now. */
export class LinkKeeper {
  readonly node = randomUUID()
  link: Link | null = null
  shared = false
  nodes: number
  readonly #options: LinkOptions
  readonly #prefix: string
  readonly #listener: LinkListener
  #reported: 'shared' | 'local' | null = null
  #closed = false
  #mark: string | null = null
  #timer: ReturnType<typeof setTimeout> | null = null

  constructor(options: LinkOptions, prefix: string, listener: LinkListener) {
    this.#options = options
    this.#prefix = prefix
    this.#listener = listener
    this.nodes = Math.max(1, options.nodes)
    this.#tick()
  }

  async close(): Promise<void> {
    this.#closed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    const { link } = this
    this.link = null
    this.shared = false
    if (link === null) return
    await within(budgetMs, link.client.send('ZREM', [this.#nodesKey, this.node]))
    link.client.close()
  }

  /** Treats the server as away before its next answered heartbeat. */
  goLocal(why: string): void {
    this.shared = false
    this.#schedule()
    this.#tell('local', why)
  }

  get #nodesKey(): string {
    return `${this.#prefix}:nodes`
  }

  /** Connects where there is no link, sends a heartbeat where there is one. */
  #tick(): void {
    if (this.#closed) return
    const link = this.link
    if (link === null) void this.#connect()
    else if (link.beatSentAt === null) void this.#beat(link)
    else if (performance.now() - link.beatSentAt > hungMs) this.#drop(link, 'hung')
    else if (this.shared) this.goLocal('no sign of life')
    this.#schedule()
  }

  #schedule(): void {
    if (this.#closed) return
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#tick(), this.shared ? beatMs : retryMs)
    this.#timer.unref()
  }

  async #connect(): Promise<void> {
    const link = new Link(this.#options.url)
    this.link = link
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
    if (this.link === link) await this.#beat(link)
  }

  async #beat(link: Link): Promise<void> {
    const sentAt = performance.now()
    link.beatSentAt = sentAt
    try {
      const args = [this.node, String(nodeMs), randomUUID()]
      const reply = await link.run(scripts.beat, [this.#nodesKey, `${this.#prefix}:mark`], args)
      if (!Array.isArray(reply)) throw new Error('the server gave an unexpected reply')
      link.beatSentAt = null
      if (this.link === link) this.#alive(link, reply, performance.now() - sentAt)
    } catch (error) {
      this.#drop(link, reason(error))
    }
  }

  #alive(link: Link, reply: readonly unknown[], tookMs: number): void {
    // Just after a server's restart the other nodes have not sent a heartbeat yet: the count must not fall.
    const counted = Number(reply[0])
    this.nodes = Math.max(1, link.settled ? counted : Math.max(counted, this.nodes))
    link.settled = performance.now() - link.openedAt > beatMs
    const mark = String(reply[1])
    const lost = this.#mark !== null && this.#mark !== mark
    this.#listener.alive(link)
    if (!lost && (this.shared || tookMs > budgetMs)) return
    this.#mark = mark
    this.shared = true
    this.#listener.returned(link, lost)
    this.#schedule()
    this.#tell('shared', `${this.nodes} nodes`)
  }

  #drop(link: Link, why: string): void {
    if (this.link !== link || this.#closed) return
    this.link = null
    this.goLocal(why)
    link.client.close()
  }

  #tell(state: 'shared' | 'local', why: string): void {
    if (this.#reported === state || this.#closed) return
    this.#reported = state
    this.#options.onState(state, why)
  }
}

/** The value; undefined where the promise rejects or takes too long. */
export function within<T>(limitMs: number, promise: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, limitMs, undefined)
    const end = (value: T | undefined) => {
      clearTimeout(timer)
      resolve(value)
    }
    promise.then(end, () => end(undefined))
  })
}

/** For calls whose loss is repaired elsewhere: a lease expires, and a dead link is noticed by its heartbeat. */
export function ignoreLoss(): undefined {
  return undefined
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
