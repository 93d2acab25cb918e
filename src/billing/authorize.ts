// Opens the bill of a request: finds its price, bounds its cost and holds that much of the account's money.

import type { Model } from '../catalog/model.ts'
import type { ModelKind } from '../config/types.ts'
import { GatewayError, invalidRequest } from '../errors.ts'
import type { KeyPrincipal } from '../identity/principal.ts'
import type { Hold, Ledger, NoHold } from '../ledger/ledger.ts'
import { countedTokens, expectedCalls, expectedOf, holdFor } from '../meter/ceiling.ts'
import type { Expected, PriceBook, Rate, Units } from '../meter/meter.ts'
import type { OutputEstimates } from '../meter/output-estimate.ts'
import { type PromptMedia, promptMedia } from '../meter/prompt-size.ts'
import { formatUnits, maxNano, type Nano } from '../money.ts'
import type { ClientDialect } from '../wire/dialect.ts'
import type { Usage } from '../wire/ir.ts'
import type { Peek } from '../wire/request.ts'
import {
  Authorization,
  type BillingRooms,
  countedUsage,
  type RequestOptions,
  type Uncounted,
} from './authorization.ts'

interface AuthorizerOptions extends BillingRooms {
  readonly currency: string
  /** The price book in force at the moment. */
  prices(): PriceBook
  /** The group's price multiplier for the model, in millionths. */
  multiplierPpm(group: string, model: string): number
  readonly estimates: OutputEstimates
  /** Notifies the operator that a request asked for a model without a price; `missing`: the kind of price it lacks. */
  unpriced(model: string, missing: string | null): void
}

/** A request that is to be authorized. */
export interface Opening {
  readonly principal: KeyPrincipal
  readonly model: Model
  /** The vendors' names of the model on channels that may serve it; image tokens are counted by them. */
  readonly servedBy?: readonly string[]
  readonly dialect: ClientDialect
  readonly peek: Peek
  /** Unix milliseconds. */
  readonly at: number
  readonly options: RequestOptions
  /** Expected usage, where it is known better than by an estimate from the request's bytes. */
  readonly usage?: Usage
  /** Expected units charged beside tokens, where known in the same way. */
  readonly units?: Units
}

/** What a request would cost now, if it were sent; nothing is held for it. */
export interface CostEstimate {
  readonly currency: string
  readonly rate: Rate
  readonly inputTokens: number
  readonly maxOutputTokens: number
  /** Without any output: the prompt as counted here, and units that are asked for, such as images. */
  readonly minNano: Nano
  /** What would be held for it as a whole reply. */
  readonly maxNano: Nano
}

export interface Authorizer {
  /** Returns at once if this node's lease has the money. Throws, or rejects with, GatewayError. */
  authorize(opening: Opening): Authorization | Promise<Authorization>
  /** Throws GatewayError. */
  estimate(opening: Opening): CostEstimate
}

const retryAfterMs = 1_000

export function createAuthorizer(rooms: AuthorizerOptions): Authorizer {
  const { ledger, policies } = rooms
  const billing = { ledger, policies }
  return {
    authorize(opening) {
      const { principal, peek, options } = opening
      if (ledger.closed !== null) throw closed()
      const { rate, expected, boundNano, uncounted, likely } = termsOf(rooms, opening)
      const amountNano =
        options.capNano === null || boundNano <= options.capNano
          ? boundNano
          : withinCap(options.capNano, { boundNano, rate, expected }, peek.stream, rooms.currency)
      const held = holdOf(ledger, principal, amountNano)
      const authorization = (result: Hold | NoHold): Authorization => {
        if ('refused' in result) throw refusal(result, amountNano, rooms.currency)
        return new Authorization(billing, rate, result, likely, uncounted, options)
      }
      return held instanceof Promise ? held.then(authorization) : authorization(held)
    },
    estimate(opening) {
      const whole = { ...opening, peek: { ...opening.peek, stream: false } }
      const { rate, expected, boundNano, uncounted, likely } = termsOf(rooms, whole)
      const prompt = countedUsage(uncounted, 0)
      return {
        currency: rooms.currency,
        rate,
        inputTokens: prompt.input + (prompt.imageInput ?? 0) + (prompt.audioInput ?? 0),
        maxOutputTokens: expected.outputTokens,
        minNano: rate.charge(prompt, likely),
        maxNano: boundNano,
      }
    },
  }
}

interface Terms {
  readonly rate: Rate
  readonly expected: Expected
  readonly boundNano: Nano
  readonly uncounted: Uncounted
  /** The units charged if the reply reports none. */
  readonly likely: Units | null
}

function termsOf(rooms: AuthorizerOptions, opening: Opening): Terms {
  const { peek } = opening
  const rate = rateOf(rooms, opening)
  const media = mediaOf(opening)
  const expected = expectedBy(rooms.estimates, opening, rate, media)
  const boundNano = boundOf(rate, expected, opening)
  if (boundNano === null) throw tooMuch()
  const likely = unitsAsked(peek.likelyUnits ?? peek.units, rate)
  const uncounted = uncountedOf(opening, expected, media, likely)
  return { rate, expected, boundNano, uncounted, likely }
}

function holdOf(
  ledger: Ledger,
  { account, keyId }: KeyPrincipal,
  amountNano: Nano,
): Hold | NoHold | Promise<Hold | NoHold> {
  const held = ledger.hold(account, keyId, amountNano)
  if (!(held instanceof Promise)) return held
  // A busy ledger, as on a machine where another node starts, is not unreachable: ask once more.
  return held.then((result) => {
    const isUnanswered = 'refused' in result && result.refused === 'closed'
    return isUnanswered && ledger.closed === null ? ledger.hold(account, keyId, amountNano) : result
  })
}

function mediaOf({ model, peek, servedBy }: Opening): PromptMedia | null {
  return peek.attachments === undefined ? null : promptMedia(peek, servedBy ?? [model.id])
}

/** What is charged if no vendor reports usage: never more than was held for it. */
function uncountedOf(
  { peek, dialect }: Opening,
  { inputTokens: most, outputTokens }: Expected,
  media: PromptMedia | null,
  likely: Units | null,
): Uncounted {
  const { other = 0, image = 0, audio = 0 } = media?.likely ?? {}
  const textTokens = countedTokens(media?.textBytes ?? peek.body.length)
  // The images of a form are in files, of which only this is known.
  const imageTokens =
    (peek.picture?.inputs ?? 0) > 0 ? Math.max(0, most - textTokens) : Math.min(most, image)
  return {
    inputTokens: Math.min(most - imageTokens, textTokens + other),
    imageTokens,
    audioTokens: (peek.audioTokens?.likely ?? 0) + audio,
    limitTokens: limitOf(peek, dialect),
    speaks: dialect.operation === 'speech',
    madeImageTokens: dialect.operation === 'image' && likely === null ? outputTokens : 0,
  }
}

/** The output that the vendor is asked for at most, where that bounds the text it sends. */
function limitOf(
  { maxOutputTokens, leastOutputTokens = 0, choices }: Peek,
  { operation }: ClientDialect,
): number | null {
  if (maxOutputTokens === null || (operation !== 'chat' && operation !== 'completion')) return null
  return Math.max(maxOutputTokens, leastOutputTokens) * Math.max(1, choices)
}

function boundOf(rate: Rate, expected: Expected, { usage, units }: Opening): Nano | null {
  if (usage === undefined) return holdFor(rate, expected)
  const nano = rate.charge(usage, { ...expected.units, ...units })
  return nano > maxNano ? null : nano
}

function rateOf(rooms: AuthorizerOptions, opening: Opening): Rate {
  const { model, principal, at } = opening
  const multiplierPpm = rooms.multiplierPpm(principal.group, model.id)
  const rate = rooms.prices().find(model.id, at, multiplierPpm)
  const missing = rate?.missing(dialectKind(opening), plainImages(opening.peek)) ?? null
  if (rate !== null && missing === null) return rate
  rooms.unpriced(model.id, missing)
  const what = missing === null ? 'no price' : `no price for ${missing}`
  throw new GatewayError(
    'service_unavailable',
    `The model '${model.id}' has ${what} and cannot be used until its operator sets one.`,
    { param: 'model', retry: false },
  )
}

/** Image units whose size and quality are known in advance; for other images the highest price is held. */
function plainImages({ units }: Peek): Units | null {
  if (units === undefined) return null
  const names = Object.keys(units).filter((name) => /^image\/\d+x\d+\/[a-z]+$/.test(name))
  return names.length === 0 ? null : Object.fromEntries(names.map((name) => [name, 1]))
}

/** The endpoint's operation decides which prices are needed, whatever else the model can do. */
function dialectKind({ dialect }: Opening): ModelKind {
  return dialect.operation
}

const requestUnits: Units = { request: 1 }

/** The requested units for which the model's rate card has a price. */
function unitsAsked(units: Units | undefined, rate: Rate): Units | null {
  const perRequest = rate.prices('request')
  if (units === undefined) return perRequest ? requestUnits : null
  const priced = Object.entries(units).filter(([name]) => rate.prices(name))
  const counted = { ...(perRequest && requestUnits), ...Object.fromEntries(priced) }
  return Object.keys(counted).length === 0 ? null : counted
}

function expectedBy(
  estimates: OutputEstimates,
  opening: Opening,
  rate: Rate,
  media: PromptMedia | null,
): Expected {
  const { principal, model, peek } = opening
  return expectedOf({
    kind: dialectKind(opening),
    peek,
    model,
    media,
    usualOutputTokens: estimates.usual(principal, model.id),
    units: unitsAsked(
      peek.units ?? expectedCalls(rate, peek, opening.dialect.id === 'openai-responses'),
      rate,
    ),
  })
}

function tooMuch(): GatewayError {
  return invalidRequest(
    'This request may cost more than any account can hold; lower max_tokens.',
    null,
  )
}

interface Bounded {
  readonly boundNano: Nano
  readonly rate: Rate
  readonly expected: Expected
}

/**
 * Limits the hold to the client's `max_cost`. A whole reply must cost less than that. A stream is stopped at it, and
 * must have room for some output: otherwise the same prompt would be processed again and again without a reply.
 */
function withinCap(
  capNano: Nano,
  { boundNano, rate, expected }: Bounded,
  stream: boolean,
  currency: string,
): Nano {
  if (stream) {
    const promptNano = rate.ceiling({ ...expected, outputTokens: 0 })
    if (promptNano < capNano) return capNano
    throw invalidRequest(
      `The prompt alone may cost up to ${formatUnits(promptNano)} ${currency}, which max_cost leaves no room for; raise max_cost.`,
      'max_cost',
    )
  }
  throw invalidRequest(
    `This request may cost up to ${formatUnits(boundNano)} ${currency}, more than max_cost allows; lower max_tokens or raise max_cost.`,
    'max_cost',
  )
}

function refusal(noHold: NoHold, amountNano: Nano, currency: string): GatewayError {
  if (noHold.refused === 'spend-limit') return limitReached(noHold, amountNano, currency)
  const { refused } = noHold
  if (refused === 'closed') return closed()
  const needs = `it may cost up to ${formatUnits(amountNano)} ${currency}`
  if (refused === 'insufficient') {
    return new GatewayError(
      'insufficient_quota',
      `The balance of this account does not cover the request: ${needs}. Top up, or lower max_tokens.`,
    )
  }
  return new GatewayError(
    'insufficient_quota',
    `Requests under way hold what this account has: ${needs}. Retry when some of them have ended.`,
    { retryAfterMs, retry: true },
  )
}

const periods = { day: ' a day', week: ' a week', month: ' a month', never: '' } as const

function limitReached(
  { limitNano, period, leftNano, isHeld, resetsAt }: Extract<NoHold, { refused: 'spend-limit' }>,
  amountNano: Nano,
  currency: string,
): GatewayError {
  const limit = `This API key may spend ${formatUnits(limitNano)} ${currency}${periods[period]}`
  const left =
    leftNano > 0n ? `${formatUnits(leftNano)} ${currency} of it is left` : 'all of it is spent'
  const needs = `the request may cost up to ${formatUnits(amountNano)} ${currency}`
  const resets =
    resetsAt === null
      ? 'The limit does not reset.'
      : `The limit resets at ${new Date(resetsAt).toISOString()}.`
  const message = `${limit}: ${left}, and ${needs}.`
  if (!isHeld) return new GatewayError('insufficient_quota', `${message} ${resets}`)
  const advice = 'Requests under way hold what is left; retry when some of them have ended.'
  return new GatewayError('insufficient_quota', `${message} ${advice} ${resets}`, {
    retryAfterMs,
    retry: true,
  })
}

function closed(): GatewayError {
  return new GatewayError(
    'service_unavailable',
    'The gateway cannot account for requests at present; retry shortly.',
    { retryAfterMs },
  )
}
