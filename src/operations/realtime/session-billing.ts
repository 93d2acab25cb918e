// The billing of one realtime session: a hold before each response, and a record for each that was made.

import { type Authorization, noUsage } from '../../billing/authorization.ts'
import type { Authorizer, Opening } from '../../billing/authorize.ts'
import { costOf, price, progress } from '../../billing/settle.ts'
import type { Keeping, ReplySummary, Settlement } from '../../billing/settlement.ts'
import type { Model } from '../../catalog/model.ts'
import { type Fault, GatewayError, invalidRequest } from '../../errors.ts'
import type { Admitted, Limiter, LimitScope } from '../../limits/limiter.ts'
import { settleRequest } from '../../relay/ending.ts'
import { stoppedFor } from '../../relay/final-error.ts'
import type { ClientSlot, RelayRequest, RelayRooms } from '../../relay/request.ts'
import type { Candidate } from '../../router/route.ts'
import type { FailedAttempt } from '../../store/usage-row.ts'
import type { ClientDialect } from '../../wire/dialect.ts'
import type { Usage } from '../../wire/ir.ts'
import type { CachedMedia } from '../../wire/openai-realtime/usage.ts'
import type { Units } from '../../wire/request.ts'
import { EndedWork } from './ended-work.ts'
import type { Expectation } from './expected.ts'
import type { Transcriber } from './transcribers.ts'
import { expectedOf, type Transcribed, transcriptSummary } from './transcript-usage.ts'

const sessionEnded = 'The session was ended'

/** The output tokens by which a response's hold is extended at a time. */
const quantumTokens = 256

/** How a response or a session ended. */
export interface Ending {
  /** The client's HTTP status; 499 where the client left. */
  readonly status: number
  readonly errorCode: string | null
  readonly fault: Fault | null
  /** The vendor was read to the end although the client had left. */
  readonly drained: boolean
}

export const wellEnded: Ending = { status: 200, errorCode: null, fault: null, drained: false }

interface SessionBillingOptions {
  readonly relay: RelayRooms
  readonly authorizer: Authorizer
  readonly limiter: Limiter
  /** Limits on tokens per minute of the caller's key and group; other limits apply to the session as a whole. */
  readonly tokenScopes: readonly LimitScope[]
  /** Whether the key is still valid: it may have been disabled since, or have expired. */
  keyHolds(): boolean
}

/** The outcome of connecting to the vendor. */
interface Reached {
  readonly candidate: Candidate | null
  readonly attempts: number
  readonly failedAttempts: readonly FailedAttempt[]
}

/** The usage that a vendor reports for a response. */
interface Reported {
  readonly usage: Usage
  readonly cached: CachedMedia
}

interface Running {
  readonly request: RelayRequest
  readonly prompt: Usage
  /** The output tokens covered by its hold. */
  heldTokens: number
  textTokens: number
  audioTokens: number
  outputBytes: number
  ttftMs: number | null
}

/** Why a response may not go on. */
export interface DenyReason {
  readonly error: GatewayError
  readonly isFinal: boolean
}

const nowhere: ClientSlot = {
  giveBack: () => undefined,
  watchClient: () => undefined,
  cutOff: () => undefined,
}

/** A response's part of the caller's token limits, freed at its end; the session frees its own slot itself. */
function slotOf(admission: Admitted): ClientSlot {
  return { ...nowhere, giveBack: ({ tokens }) => admission.finish(tokens, performance.now()) }
}

export class SessionBilling {
  readonly expected: Expectation
  private readonly rooms: SessionBillingOptions
  /** The session's request, without its money; the first response has the same. */
  private readonly first: Omit<RelayRequest, 'authorization'>
  private readonly opening: Omit<Opening, 'at'>
  private reached: Reached = { candidate: null, attempts: 0, failedAttempts: [] }
  private ahead: { readonly authorization: Authorization; readonly heldTokens: number } | null
  private readonly running = new Map<string, Running>()
  private readonly ended = new EndedWork()
  /** The number of records written or begun. */
  private rows = 0
  private closed = false

  /** `authorization`: the first response's, held for a reply as long as `expected` says. */
  constructor(
    rooms: SessionBillingOptions,
    first: Omit<RelayRequest, 'authorization'>,
    opening: Omit<Opening, 'at'>,
    authorization: Authorization,
    expected: Expectation,
  ) {
    this.rooms = rooms
    this.first = first
    this.request = { ...first, authorization }
    this.opening = opening
    this.expected = expected
    this.ahead = { authorization, heldTokens: expected.replyTokens }
  }

  /** The session's request with its first authorization: for connecting, and to report on the session as a whole. */
  readonly request: RelayRequest

  get responses(): readonly string[] {
    return [...this.running.keys()]
  }

  reach(reached: Reached): void {
    this.reached = reached
  }

  /** A response begins: holds money for it, and takes its tokens from the caller's limits. */
  async begin(responseId: string): Promise<DenyReason | null> {
    if (this.running.has(responseId)) return null
    this.ended.delete(responseId)
    const { expected } = this
    const prompt = expected.prompt
    const heldTokens = expected.replyTokens
    const opened = this.takeAhead() ?? (await this.open())
    const authorization = opened instanceof GatewayError ? await this.openFree() : opened
    if (authorization === null) return opened instanceof GatewayError ? final(opened) : null
    const admitted = await this.admit(prompt, heldTokens)
    const limited = admitted instanceof GatewayError
    this.run(responseId, {
      request: this.askFor(authorization, limited ? nowhere : admitted),
      prompt,
      heldTokens,
      textTokens: 0,
      audioTokens: 0,
      outputBytes: 0,
      ttftMs: null,
    })
    if (this.closed) return null
    if (opened instanceof GatewayError) return final(opened)
    if (!this.rooms.keyHolds()) return final(keyEnded())
    const covered = await authorization.cover(expected.with(prompt, heldTokens))
    if (covered !== 'enough') return final(stoppedFor(covered, sessionEnded))
    return limited ? { error: admitted, isFinal: false } : null
  }

  /** A response has delivered something; null: the hold covers it. */
  output(
    responseId: string,
    medium: 'text' | 'audio',
    bytes: number,
  ): Promise<DenyReason | null> | null {
    const running = this.running.get(responseId)
    if (running === undefined) {
      // A response whose vendor did not say that it begins: it does now, unless the output is another's.
      const isOthers = responseId === '' || this.running.size > 0 || this.ended.has(responseId)
      if (isOthers || this.closed) return null
      return this.begin(responseId).then(
        (denyReason) => denyReason ?? this.output(responseId, medium, bytes),
      )
    }
    const tokens = this.expected.outputTokens(medium, bytes)
    if (medium === 'text') running.textTokens += tokens
    else running.audioTokens += tokens
    running.outputBytes += bytes
    running.ttftMs ??= performance.now() - running.request.startedMs
    if (running.textTokens + running.audioTokens <= running.heldTokens) return null
    return this.extend(running)
  }

  private async extend(running: Running): Promise<DenyReason | null> {
    running.heldTokens = running.textTokens + running.audioTokens + quantumTokens
    const { authorization } = running.request
    const needed = this.expected.with(counted(running), quantumTokens)
    const covered = await authorization.cover(needed)
    if (covered !== 'enough') return final(stoppedFor(covered, sessionEnded))
    // Saved in case the process dies: this much is owed by now.
    if (!this.closed) progress(this.settlement(running, wellEnded, null))
    return null
  }

  /** A response has ended: charges it; resolves with its cost when the record is as durable as configured. */
  async end(responseId: string, said: Reported | null, ending: Ending): Promise<string | null> {
    if (this.ended.has(responseId)) return null
    await this.begin(responseId)
    const running = this.running.get(responseId)
    if (running === undefined) return null
    this.running.delete(responseId)
    this.ended.add(responseId)
    // A vendor that counts nothing of what it delivered has reported nothing.
    const reported = said !== null && running.outputBytes > 0 && isNothing(said.usage) ? null : said
    this.expected.ended(reported?.usage ?? counted(running))
    return this.settle(running.request, this.settlement(running, ending, reported))
  }

  /** Holds money for the next response, where that is not done yet. */
  async prepare(): Promise<DenyReason | null> {
    if (this.ahead !== null || this.running.size > 0 || this.closed) return null
    const { replyTokens } = this.expected
    const opened = await this.open()
    if (opened instanceof GatewayError) return final(opened)
    if (this.closed) opened.release()
    else this.ahead = { authorization: opened, heldTokens: replyTokens }
    return null
  }

  /** Input audio was transcribed by another model than the one that answers: charges that model's price. */
  async transcribed(by: Transcriber | null, said: Transcribed): Promise<DenyReason | null> {
    const opening = {
      ...this.opening,
      ...(by !== null && {
        model: by.model,
        dialect: by.dialect,
        peek: { ...this.opening.peek, model: by.model.id },
      }),
    }
    const opened = await this.open({ ...opening, ...expectedOf(said) })
    // The transcript is made and owed: the money held for an expected response is used for it.
    if (opened instanceof GatewayError) this.takeAhead()?.release()
    const authorization = opened instanceof GatewayError ? await this.openFree(opening) : opened
    if (authorization !== null) {
      const { dialect, peek, model } = opening
      const asked = { ...this.askFor(authorization, nowhere), peek, model }
      const { operation } = dialect
      const summary = transcriptSummary(authorization, said)
      const request = { ...asked, dialect: { ...asked.dialect, operation } }
      const settlement = this.settlementOf(request, wellEnded, summary, null)
      const { candidate } = by ?? settlement
      await this.settle(request, { ...settlement, candidate })
    }
    return opened instanceof GatewayError ? final(opened) : null
  }

  /** Throws GatewayError where the model has no price or the account cannot pay for it. */
  async checkPriced(model: Model, dialect: ClientDialect): Promise<void> {
    const peek = { ...this.opening.peek, model: model.id }
    const authorization = await this.rooms.authorizer.authorize({
      ...this.opening,
      model,
      dialect,
      peek,
      usage: noUsage,
      at: Date.now(),
    })
    authorization.release()
  }

  /** The session is over: charges running responses by what was delivered, and releases all holds. */
  close(ending: Ending): void {
    if (this.closed) return
    this.closed = true
    for (const [id, running] of this.running) {
      this.running.delete(id)
      void this.settle(running.request, this.settlement(running, ending, null))
    }
    const authorization = this.takeAhead()
    if (authorization === null) return
    // A session without any response leaves a record too.
    if (this.rows > 0) authorization.release()
    else {
      const request = { ...this.first, authorization, clientSlot: nowhere }
      void this.settle(request, this.settlementOf(request, ending, null, null))
    }
  }

  private takeAhead(): Authorization | null {
    const { ahead } = this
    this.ahead = null
    return ahead?.authorization ?? null
  }

  private run(responseId: string, running: Running): void {
    if (!this.closed) {
      this.running.set(responseId, running)
      return
    }
    // The session ended while money was being held.
    running.request.clientSlot.giveBack({ tokens: 0, status: 200 })
    running.request.authorization.release()
  }

  private async open(opening?: Omit<Opening, 'at'>): Promise<Authorization | GatewayError> {
    const { prompt, replyTokens } = this.expected
    const usage = this.expected.with(prompt, replyTokens)
    try {
      return await this.rooms.authorizer.authorize({
        ...(opening ?? { ...this.opening, usage }),
        at: Date.now(),
      })
    } catch (error) {
      if (error instanceof GatewayError) return error
      throw error
    }
  }

  /** Authorizes work already done, which is charged whatever the account's balance; null: no ledger is available. */
  private async openFree(opening = this.opening): Promise<Authorization | null> {
    const opened = await this.open({ ...opening, usage: noUsage })
    return opened instanceof GatewayError ? null : opened
  }

  private async admit(prompt: Usage, heldTokens: number): Promise<ClientSlot | GatewayError> {
    const { limiter, tokenScopes } = this.rooms
    if (tokenScopes.length === 0) return nowhere
    const { input, cachedInput, audioInput = 0, imageInput = 0 } = prompt
    const tokens = Math.ceil(input + cachedInput + audioInput + imageInput + heldTokens)
    const decision = await limiter.admit(tokenScopes, tokens, performance.now())
    if (decision.admitted) return slotOf(decision)
    const { retryAfterMs } = decision
    const message = 'Rate limit reached for tokens per minute; the response was cancelled.'
    return new GatewayError('rate_limit_exceeded', message, { retryAfterMs })
  }

  private askFor(authorization: Authorization, clientSlot: ClientSlot): RelayRequest {
    const { first } = this
    this.rows += 1
    const { requestId } = first
    return {
      ...first,
      requestId: this.rows === 1 ? requestId : `${requestId}-${this.rows}`,
      at: Date.now(),
      startedMs: performance.now(),
      clientSlot,
      authorization,
    }
  }

  private settlement(running: Running, ending: Ending, said: Reported | null): Settlement {
    const { outputBytes, request } = running
    const { model } = this.expected.facts
    const used = said === null ? null : cachedApart(request.authorization, said)
    const summary = {
      ...seen(used?.usage ?? null),
      model,
      outputBytes,
      counted: counted(running),
      ...(used?.units != null && { units: used.units }),
    }
    return this.settlementOf(running.request, ending, summary, running.ttftMs)
  }

  private get vendorId(): string | null {
    const { candidate } = this.reached
    return (candidate && this.rooms.relay.channels.get(candidate.channelId)?.vendor.id) ?? null
  }

  private settlementOf(
    request: RelayRequest,
    { status, errorCode, fault, drained }: Ending,
    summary: ReplySummary | null,
    ttftMs: number | null,
  ): Settlement {
    const durationMs = performance.now() - request.startedMs
    // What connecting took, and may have cost, is in the first record alone.
    const isFirst = request.requestId === this.first.requestId
    return {
      request,
      ...this.reached,
      ...(!isFirst && { attempts: 1, failedAttempts: [] }),
      vendor: this.vendorId,
      vendorRequestId: null,
      accepted: summary !== null,
      drained,
      reply: null,
      type: null,
      summary,
      status,
      fault,
      errorCode,
      ttftMs,
      durationMs,
      vendorMs: 0,
    }
  }

  /** Resolves with the cost when the record is stored. */
  private settle(request: RelayRequest, settlement: Settlement): Promise<string> {
    const { observer } = this.rooms.relay
    const priced = price(settlement)
    const cost = costOf(priced)
    if (request.authorization.rooms.policies.durability === 'normal') {
      settleRequest(observer, request, priced, atOnce)
      return Promise.resolve(cost)
    }
    return new Promise((resolve) => {
      settleRequest(observer, request, priced, { then: () => resolve(cost) })
    })
  }
}

const atOnce: Keeping = { now: true }

function seen(usage: Usage | null): ReplySummary {
  return { usage, outputBytes: null, finishReason: null, model: null }
}

function counted({ prompt, textTokens, audioTokens }: Running): Usage {
  const audioOutput = Math.ceil(audioTokens)
  return { ...prompt, output: Math.ceil(textTokens), ...(audioOutput > 0 && { audioOutput }) }
}

function isNothing(usage: Usage): boolean {
  return Object.values(usage).every((tokens) => tokens === 0)
}

function final(error: GatewayError): DenyReason {
  return { error, isFinal: true }
}

export function keyEnded(): GatewayError {
  return new GatewayError('invalid_api_key', 'The API key is not valid any more.')
}

/** Counts cached audio and images separately where the card has a price for them. */
function cachedApart({ rate }: Authorization, { usage, cached }: Reported): Used {
  const media = [
    ['cachedAudio', cached.audio],
    ['cachedImage', cached.image],
  ] as const
  const priced = media.filter(([name, tokens]) => tokens > 0 && rate.prices(name))
  if (priced.length === 0) return { usage, units: null }
  const apart = priced.reduce((sum, [, tokens]) => sum + tokens, 0)
  return {
    usage: { ...usage, cachedInput: usage.cachedInput - apart },
    units: Object.fromEntries(priced),
  }
}

interface Used {
  readonly usage: Usage
  readonly units: Units | null
}

/** The error for a session that names another model than it was opened with. */
export function pinned(param: string): GatewayError {
  return invalidRequest('The model of a session cannot be changed: open another session.', param)
}
