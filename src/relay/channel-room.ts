// What a request takes from the rate limits of the channels it is sent to, and gives back.

import type { Admitted, Limiter, Refused } from '../limits/limiter.ts'
import type { Candidate } from '../router/route.ts'

/** An estimate of the request's tokens: about four bytes of text each; corrected by the usage the vendor reports. */
const bytesPerToken = 4

/** The limiter's scope of a channel: one for all of its keys together. */
export function channelScope(channelId: string): string {
  return `channel:${channelId}`
}

export class ChannelRoom {
  /** Milliseconds before the first of the full channels may be asked; null: none was full. */
  retryAfterMs: number | null = null
  private readonly limiter: Pick<Limiter, 'admit'>
  private readonly tokens: number
  private taken: Admitted | null = null
  private over = false

  constructor(limiter: Pick<Limiter, 'admit'>, bodyBytes: number) {
    this.limiter = limiter
    this.tokens = Math.ceil(bodyBytes / bytesPerToken)
  }

  /** Whether the channel may be asked. Gives back what was taken for the previous one. */
  take({ channelId, limits }: Candidate): boolean | Promise<boolean> {
    this.giveBack(0)
    if (limits === undefined) return true
    const scopes = [{ id: channelScope(channelId), limits }]
    const decision = this.limiter.admit(scopes, this.tokens, performance.now())
    return decision instanceof Promise
      ? decision.then((late) => this.judge(late))
      : this.judge(decision)
  }

  /** The request has ended, with this many tokens of all kinds. */
  end(tokens: number): void {
    this.over = true
    this.giveBack(tokens)
  }

  private judge(decision: Admitted | Refused): boolean {
    if (!decision.admitted) {
      const { retryAfterMs } = decision
      this.retryAfterMs = Math.min(this.retryAfterMs ?? retryAfterMs, retryAfterMs)
      return false
    }
    this.taken = decision
    // The client left while the limiter was asked.
    if (this.over) this.giveBack(0)
    return true
  }

  private giveBack(tokens: number): void {
    this.taken?.finish(tokens, performance.now())
    this.taken = null
  }
}
