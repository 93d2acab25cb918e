// Counts the tokens of a request without answering it: by a vendor that can, else by an estimate. Free of charge.

import { Buffer } from 'node:buffer'
import type { GatewayError } from '../../errors.ts'
import { countedTokens } from '../../meter/ceiling.ts'
import type { Channel } from '../../relay/channel.ts'
import { finalError, withoutSecrets } from '../../relay/final-error.ts'
import { identityRequest } from '../../relay/identity.ts'
import { parsedObject } from '../../relay/parsed.ts'
import { ErrorReply } from '../../relay/path.ts'
import type { RelayRooms } from '../../relay/request.ts'
import { ownPeek } from '../../relay/send.ts'
import { plan } from '../../router/plan.ts'
import { type Candidate, laneOf } from '../../router/route.ts'
import type { Exchange, ReplyHandler } from '../../vendors/transport.ts'
import { estimateOf } from '../../wire/anthropic-messages/estimate.ts'
import type { VendorDialect } from '../../wire/dialect.ts'
import { join } from '../../wire/json/splice.ts'
import type { Address, Peek } from '../../wire/request.ts'
import type { AdmittedRequest, Operation } from '../operation.ts'

/** A client waits for the count; when no vendor answers within this time, it gets an estimate. */
const limitMs = 10_000
/** A count takes a few dozen bytes. */
const mostBytes = 65_536

export const countMessages: Operation = {
  dialect: 'anthropic-messages',
  address: { counts: true },
  // A model that no channel serves gets an estimate too.
  resolve: ({ peek, principal, dialect }, { modelAccess }) => ({
    peek,
    ...modelAccess.find(principal, peek.model, dialect),
  }),
  async answer(request, { relay }) {
    return { body: (await askVendors(relay, request)) ?? estimated(request.peek) }
  },
}

function estimated(peek: Peek): string {
  const { bytes, tokens } = estimateOf(parsedObject(peek.body))
  return JSON.stringify({ input_tokens: Math.max(1, countedTokens(bytes) + tokens) })
}

/** Null where no vendor gave a count. */
async function askVendors(relay: RelayRooms, request: AdmittedRequest): Promise<string | null> {
  const { channels, health, retry } = relay
  const { address } = request
  const counting = request.candidates.filter(({ identity, channelId }) => {
    const vendor = channels.get(channelId)?.vendor
    return identity && vendor?.countsTokens === true && vendor.local === undefined
  })
  const { attempts } = plan(counting, health, performance.now(), Math.random, retry)
  for (const candidate of attempts) {
    const channel = channels.get(laneOf(candidate))
    if (channel === undefined) continue
    const peek = ownPeek(request, candidate, channel)
    if (peek === null) continue
    const dialect = relay.dialects[candidate.dialect]
    const found = await ask(relay, { dialect, peek, address, candidate, channel })
    if (found !== null) return found
  }
  return null
}

interface Question {
  readonly dialect: VendorDialect
  readonly peek: Peek
  readonly address: Address
  readonly candidate: Candidate
  readonly channel: Channel
}

/** The vendor's own body; null where it gave none. Throws GatewayError where it refused the request itself. */
async function ask(relay: RelayRooms, question: Question): Promise<string | null> {
  const { candidate, channel, peek, address } = question
  const { dialect, model } = candidate
  const call = { dialect, model, stream: false, counts: true as const }
  const { promise, resolve, reject } = Promise.withResolvers<string | null>()
  const { connectMs, sendIdleMs } = relay.timeouts
  const handler = new Collector(question, resolve, reject)
  const exchange: Exchange = relay.dialer.open(
    {
      destination: channel.destination(call, address.headers),
      segments: identityRequest(peek, candidate, channel).segments,
      connectMs,
      sendIdleMs,
    },
    handler,
  )
  const timer = setTimeout(() => resolve(null), limitMs)
  return promise.finally(() => {
    clearTimeout(timer)
    exchange.abort()
  })
}

class Collector implements ReplyHandler {
  private readonly chunks: Uint8Array[] = []
  private collectedBytes = 0
  private refusal: ErrorReply | null = null
  private readonly question: Question
  private readonly resolve: (body: string | null) => void
  private readonly reject: (error: GatewayError) => void

  constructor(
    question: Question,
    resolve: (body: string | null) => void,
    reject: (error: GatewayError) => void,
  ) {
    this.question = question
    this.resolve = resolve
    this.reject = reject
  }

  head(status: number, header: (name: string) => string | null): void {
    if (status >= 200 && status < 300) return
    const { dialect, channel } = this.question
    const { vendor, secrets } = channel
    const nothing = (): void => undefined
    this.refusal = new ErrorReply(
      status,
      header,
      { dialect, vendor },
      {
        emit: nothing,
        semantic: nothing,
        completed: nothing,
        answered: nothing,
        failed: (fault) => {
          if (fault.kind !== 'rejected') this.resolve(null)
          else this.reject(finalError([withoutSecrets(fault, secrets)]))
        },
      },
    )
  }

  bytes(chunk: Uint8Array): void {
    if (this.refusal !== null) {
      this.refusal.bytes(chunk)
      return
    }
    this.chunks.push(chunk)
    this.collectedBytes += chunk.length
    if (this.collectedBytes > mostBytes) this.resolve(null)
  }

  end(): void {
    if (this.refusal !== null) this.refusal.end()
    else this.resolve(countIn(Buffer.from(join(this.chunks)).toString('utf8')))
  }

  fault(): void {
    this.resolve(null)
  }
}

/** The reply if it is a count; null from a vendor that answers otherwise and so cannot count. */
function countIn(text: string): string | null {
  try {
    const body: unknown = JSON.parse(text)
    const counts = typeof body === 'object' && body !== null && 'input_tokens' in body
    return counts && typeof body.input_tokens === 'number' ? text : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
