// Sends calls to vendors, each on a connection of its own, and keeps connections that may carry another.

import type { Exchange, ReplyHandler } from '../vendors/transport.ts'
import { connect } from './connect.ts'
import { Connection, type ConnectionOwner, type DialCall, DialExchange } from './connection.ts'

interface DialerSettings {
  /** A connection unused for this long is closed. */
  readonly idleMs: number
  /** How often idle connections are looked for. */
  readonly sweepMs: number
}

/** Shorter than the shortest keep-alive of the vendors' servers, so that a call seldom meets a closing connection. */
const defaults: DialerSettings = { idleMs: 20_000, sweepMs: 5_000 }
const maxIdlePerOrigin = 1_024
/** Calls that avoid kept-alive connections leave one behind each; only this many are kept. */
const maxIdleApart = 16

export interface Dialer {
  /** Sends a call; the handler is called with its reply, never before this returns. */
  open(call: DialCall, handler: ReplyHandler): Exchange
  /** Connections open now, for metrics and tests. */
  readonly connections: number
  close(): void
}

class Pool implements Dialer, ConnectionOwner {
  private readonly idleByOrigin = new Map<string, Connection[]>()
  private readonly all = new Set<Connection>()
  private readonly settings: DialerSettings
  private sweeper: ReturnType<typeof setInterval> | null = null

  constructor(settings: DialerSettings) {
    this.settings = settings
  }

  get connections(): number {
    return this.all.size
  }

  open(call: DialCall, handler: ReplyHandler): Exchange {
    const exchange = new DialExchange(call, handler)
    // The most recently used connection is the least likely to be stale.
    const kept =
      call.onKept === 'avoid' ? undefined : this.idleByOrigin.get(call.destination.origin)?.pop()
    if (kept === undefined) this.connect(exchange)
    else kept.send(exchange)
    return exchange
  }

  resend(exchange: DialExchange): void {
    this.connect(exchange)
  }

  idle(connection: Connection): void {
    const list = this.idleByOrigin.get(connection.destination.origin)
    connection.idleSince = performance.now()
    const most = connection.isApart ? maxIdleApart : maxIdlePerOrigin
    if (list === undefined) this.idleByOrigin.set(connection.destination.origin, [connection])
    else if (list.length >= most) connection.destroy()
    else list.push(connection)
    if (this.sweeper === null) {
      this.sweeper = setInterval(() => this.sweep(), this.settings.sweepMs)
      this.sweeper.unref()
    }
  }

  closed(connection: Connection): void {
    this.all.delete(connection)
    const list = this.idleByOrigin.get(connection.destination.origin)
    const at = list?.lastIndexOf(connection) ?? -1
    if (at !== -1) list?.splice(at, 1)
  }

  close(): void {
    for (const connection of [...this.all]) connection.destroy()
    if (this.sweeper !== null) clearInterval(this.sweeper)
    this.sweeper = null
  }

  private connect(exchange: DialExchange): void {
    const connection = new Connection(exchange, this)
    this.all.add(connection)
    connect(connection)
  }

  private sweep(): void {
    const oldest = performance.now() - this.settings.idleMs
    for (const [origin, list] of this.idleByOrigin) {
      for (const connection of list.filter((each) => each.idleSince < oldest)) connection.destroy()
      if (list.length === 0) this.idleByOrigin.delete(origin)
    }
    if (this.idleByOrigin.size > 0 || this.sweeper === null) return
    clearInterval(this.sweeper)
    this.sweeper = null
  }
}

/** Creates a dialer with its own pool of connections. */
export function createDialer(settings: DialerSettings = defaults): Dialer {
  return new Pool(settings)
}
