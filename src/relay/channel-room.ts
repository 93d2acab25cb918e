// What a request takes of the limits of the channels it is sent to, and gives back.

import type { Admitted, Limiter, Refused } from '../limits/limiter.ts'
import type { Candidate } from '../router/route.ts'

/** About four bytes of text make a token; put right by what the vendor reports. */
const bytesPerToken = 4

/** What limits know a channel by: all of its keys together. */
export function channelScope(channelId: string): string {
  return `channel:${channelId}`
}

export class ChannelRoom {
  /** Until the first of those that were full may be asked; null: none was. */
  retryAfterMs: number | null = null
  private readonly limiter: Pick<Limiter, 'admit'>
  private readonly tokens: number
  private taken: Admitted | null = null
  private over = false

  constructor(limiter: Pick<Limiter, 'admit'>, bodyBytes: number) {
    this.limiter = limiter
    this.tokens = Math.ceil(bodyBytes / bytesPerToken)
  }

  /** Whether the channel may be asked; what was taken of the one before is given back. */
  take({ channelId, limits }: Candidate): boolean | Promise<boolean> {
    this.giveBack(0)
    if (limits === undefined) return true
    const scopes = [{ id: channelScope(channelId), limits }]
    const decision = this.limiter.admit(scopes, this.tokens, performance.now())
    return decision instanceof Promise
      ? decision.then((late) => this.judge(late))
      : this.judge(decision)
  }

  /** The request has ended, with so many tokens of all kinds. */
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
    // Its client left meanwhile.
    if (this.over) this.giveBack(0)
    return true
  }

  private giveBack(tokens: number): void {
    this.taken?.finish(tokens, performance.now())
    this.taken = null
  }
}
