// Counts the tokens of a request without answering it: at a vendor who can, else by an estimate. Costs nothing.

import { Buffer } from 'node:buffer'
import { GatewayError } from '../../errors.ts'
import { checkHeaderBytes, headersOf } from '../../http/body/head.ts'
import { checkContentType } from '../../http/body/incoming.ts'
import { declaredLength, readBody } from '../../http/body/read.ts'
import type { FrontRooms } from '../../http/front-rooms.ts'
import { authenticate } from '../../identity/authenticate.ts'
import type { KeyPrincipal } from '../../identity/principal.ts'
import { countedTokens } from '../../meter/ceiling.ts'
import type { Channel } from '../../relay/channel.ts'
import { finalError } from '../../relay/final-error.ts'
import { identityRequest } from '../../relay/identity.ts'
import { parsedObject } from '../../relay/parsed.ts'
import { ErrorReply } from '../../relay/path.ts'
import { plan } from '../../router/plan.ts'
import type { Candidate } from '../../router/route.ts'
import { scrub } from '../../telemetry/scrub.ts'
import type { Exchange, ReplyHandler } from '../../vendors/transport.ts'
import { estimateOf } from '../../wire/anthropic-messages/estimate.ts'
import type { CommonDialect } from '../../wire/dialect.ts'
import { join } from '../../wire/json/splice.ts'
import type { Address, Peek } from '../../wire/request.ts'

/** A client waits for its count, and has an estimate of its own where none comes. */
const limitMs = 10_000

/** The count as JSON text. Throws GatewayError where the request is no good. */
export function countTokens(
  rooms: FrontRooms,
  dialect: CommonDialect,
  request: Request,
): Promise<string> {
  return counting(rooms, request, async (body, principal) => {
    const address: Address = { ...headersOf(dialect, request.headers), counts: true }
    const peek = dialect.client.peek(body, address)
    const { candidates } = rooms.modelAccess.find(principal, peek.model, dialect)
    return (await askVendors(rooms, dialect, peek, address, candidates)) ?? estimated(peek)
  })
}

/** Hands over the body of a known caller who is within its limits. `keyed`: as `url` of `authenticate`. Throws GatewayError. */
export async function counting(
  rooms: FrontRooms,
  request: Request,
  count: (body: Uint8Array, principal: KeyPrincipal) => Promise<string>,
  keyed: string | null = null,
): Promise<string> {
  const { headers } = request
  const { server, load, relay } = rooms
  const at = Date.now()
  checkHeaderBytes(headers, server.maxHeaderBytes)
  const principal = authenticate(headers, rooms.keyring, at, keyed)
  checkContentType(headers.get('content-type'))
  const length = declaredLength(request, server.maxBodyBytes)
  let heldBytes = length ?? 0
  load.enter(heldBytes, server)
  try {
    const decisionOfLimits = await rooms.limiter.admit(rooms.modelAccess.scopes(principal), 0, at)
    if (!decisionOfLimits.admitted) {
      rooms.limited(decisionOfLimits)
      throw new GatewayError('rate_limit_exceeded', 'Rate limit reached; retry later.', {
        retryAfterMs: decisionOfLimits.retryAfterMs,
      })
    }
    decisionOfLimits.finish(0, at)
    const grow = (bytes: number): void => {
      load.grow(bytes, server)
      heldBytes += bytes
    }
    const bounds = { maxBytes: server.maxBodyBytes, timeoutMs: server.bodyTimeoutMs, grow }
    return await count(await readBody(request, length, bounds, relay.deadlines), principal)
  } finally {
    load.leave(heldBytes)
  }
}

function estimated(peek: Peek): string {
  const { bytes, tokens } = estimateOf(parsedObject(peek.body))
  return JSON.stringify({ input_tokens: Math.max(1, countedTokens(bytes) + tokens) })
}

/** null where no vendor could say. */
async function askVendors(
  rooms: FrontRooms,
  dialect: CommonDialect,
  peek: Peek,
  address: Address,
  candidates: readonly Candidate[],
): Promise<string | null> {
  const { channels, health, random, retry } = rooms.relay
  const counting = candidates.filter(({ identity, channelId }) => {
    const vendor = channels.get(channelId)?.vendor
    return identity && vendor?.countsTokens === true && vendor.local === undefined
  })
  const { attempts } = plan(counting, health, performance.now(), random, retry)
  for (const candidate of attempts) {
    const channel = channels.get(candidate.channelId)
    if (channel === undefined) continue
    const found = await ask(rooms, { dialect, peek, address, candidate, channel })
    if (found !== null) return found
  }
  return null
}

interface Question {
  readonly dialect: CommonDialect
  readonly peek: Peek
  readonly address: Address
  readonly candidate: Candidate
  readonly channel: Channel
}

/** The vendor's own body, or null where it gave none. Throws GatewayError where it refused the request itself. */
async function ask({ relay }: FrontRooms, question: Question): Promise<string | null> {
  const { candidate, channel, peek, address } = question
  const { dialect, model } = candidate
  const call = { dialect, model, stream: false, counts: true as const }
  const { promise, resolve, reject } = Promise.withResolvers<string | null>()
  const { connectMs, sendIdleMs } = relay.timeouts
  const handler = new Collector(question, resolve, reject)
  const exchange: Exchange = relay.dialer.open(
    {
      destination: channel.destination(call, address.headers),
      segments: identityRequest(peek, candidate, channel.vendor).segments,
      connectMs,
      sendIdleMs,
    },
    handler,
  )
  const timer = setTimeout(() => {
    exchange.abort()
    resolve(null)
  }, limitMs)
  return promise.finally(() => clearTimeout(timer))
}

class Collector implements ReplyHandler {
  private readonly chunks: Uint8Array[] = []
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
          else this.reject(finalError([fault], (text) => scrub(text, secrets)))
        },
      },
    )
  }

  bytes(chunk: Uint8Array): void {
    if (this.refusal === null) this.chunks.push(chunk)
    else this.refusal.bytes(chunk)
  }

  end(): void {
    if (this.refusal !== null) this.refusal.end()
    else this.resolve(countIn(Buffer.from(join(this.chunks)).toString('utf8')))
  }

  fault(): void {
    this.resolve(null)
  }
}

/** The reply where it is a count; a vendor that answers otherwise cannot count after all. */
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
