// Logs requests without a valid key, in few lines however many there are.

import type { Log } from './log.ts'

export interface Denial {
  readonly requestId: string
  readonly path: string
  readonly clientAddress: string | null
  /** The fixed beginning of keys of this kind; never a part of the key itself. */
  readonly keyPrefix: string | null
  readonly reason: string
}

interface DenialsOptions {
  readonly log: Pick<Log, 'warn'>
  /** Calls `run` once after a time; by default with a timer that does not keep the process alive. */
  readonly schedule?: (run: () => void, delayMs: number) => void
}

const windowMs = 60_000
/** The most addresses logged in each window, with one line each. */
const mostLines = 20
/** The most characters of the path that are logged; it comes from outside. */
const longestPath = 200

export class Denials {
  private readonly log: Pick<Log, 'warn'>
  private readonly schedule: (run: () => void, delayMs: number) => void
  private readonly logged = new Set<string>()
  private unlogged = 0
  private open = false

  constructor({ log, schedule }: DenialsOptions) {
    this.log = log
    this.schedule = schedule ?? ((run, delayMs) => setTimeout(run, delayMs).unref())
  }

  /** Logs the first denial of an address within a minute; the others are counted, and logged together. */
  note({ requestId, path, clientAddress, keyPrefix, reason }: Denial): void {
    if (!this.open) {
      this.open = true
      this.schedule(() => this.close(), windowMs)
    }
    const address = clientAddress ?? ''
    if (this.logged.has(address) || this.logged.size >= mostLines) {
      this.unlogged += 1
      return
    }
    this.logged.add(address)
    this.log.warn(
      {
        request_id: requestId,
        status: 401,
        path: path.slice(0, longestPath),
        client_address: clientAddress,
        key_prefix: keyPrefix,
        reason,
      },
      'a request without a valid key was refused',
    )
  }

  private close(): void {
    const { unlogged } = this
    this.logged.clear()
    this.unlogged = 0
    this.open = false
    if (unlogged > 0)
      this.log.warn({ refused: unlogged }, 'more requests without a valid key were refused')
  }
}
