// A card combined with a multiplier: computes the cost of usage by one formula with one division.

import { noTokens, promptKinds, replyKinds, type TokenKind, tokenPrices } from '../config/prices.ts'
import type { ModelKind } from '../config/types.ts'
import { ceilDiv, type Nano, parseUnits } from '../money.ts'
import type { PriceRow } from '../store/ledger.ts'
import type { Usage } from '../wire/ir.ts'
import { type Band, type Card, readCard, unitPrice } from './card.ts'
import type { Expected, PricedLine, Rate, Units } from './meter.ts'
import { missingPrice } from './required.ts'

const million = 1_000_000n
/** Prices are per million units, and multipliers in millionths. */
const divisor = million * million

/**
 * Kinds that a prompt's tokens may turn out to be. Not audio: its bytes are a hundred times its tokens. Not what is
 * written to the one-hour cache: that is rare, and its higher price is less than what counting by bytes overestimates.
 */
const likelyInput = promptKinds.filter((kind) => kind !== 'audioInput' && kind !== 'cacheWrite1h')

/** Prices in the order of `tokenPrices`; 0 where a kind has none. */
interface CompiledBand {
  readonly above: number
  readonly prices: readonly Nano[]
  /** The same prices as numbers: nearly every sum is a safe integer, and then exact. */
  readonly plainPrices: readonly number[]
  /** The highest prices of this band and those below it. */
  readonly dearest: Dearest<Nano>
  readonly plainDearest: Dearest<number>
}

interface Dearest<Price> {
  readonly input: Price
  readonly audio: Price
  readonly output: Price
}

/** Throws where the card has an unknown name or a price that is not a decimal. */
export function compileRate(
  row: Pick<PriceRow, 'model' | 'version' | 'prices'>,
  multiplierPpm: number,
): Rate {
  return new CardRate(row, readCard(row.prices), multiplierPpm)
}

/** Converts a group's multiplier (`1.25`) to millionths. */
export function multiplierPpm(multiplier: string): number {
  const nano = parseUnits(multiplier)
  if (nano === null || nano % 1_000n !== 0n) throw new Error(`${multiplier} is not a multiplier`)
  return Number(nano / 1_000n)
}

class CardRate implements Rate {
  readonly model: string
  readonly version: number
  readonly multiplierPpm: number
  private readonly card: Card
  private readonly multiplier: bigint
  private readonly bands: readonly CompiledBand[]
  private readonly base: CompiledBand
  /** Cached: asked for every request, with the same answer. */
  private readonly missingFor = new Map<ModelKind, string | null>()

  constructor(row: Pick<PriceRow, 'model' | 'version'>, card: Card, multiplierPpm: number) {
    this.model = row.model
    this.version = row.version
    this.multiplierPpm = multiplierPpm
    this.card = card
    this.multiplier = BigInt(multiplierPpm)
    this.bands = card.bands.map((_, at) => compileBand(card.bands.slice(0, at + 1)))
    this.base = compileBand([card.bands[0]])
  }

  charge(usage: Usage, units: Units | null): Nano {
    return this.total(usage, units, this.multiplier)
  }

  cost(usage: Usage, units: Units | null): Nano {
    return this.total(usage, units, million)
  }

  private total(usage: Usage, units: Units | null, multiplier: bigint): Nano {
    const band = this.bandFor(usage)
    const plain = plainPriceOf(usage, band)
    const isExact = plain <= Number.MAX_SAFE_INTEGER
    if (units === null && isExact && multiplier === million) return byMillion(plain)
    const sum = isExact ? BigInt(plain) : priceOf(usage, band)
    if (units === null) return ceilDiv(sum * multiplier, divisor)
    let micro = sum * million
    for (const [name, count] of Object.entries(units)) {
      micro += micros(count) * (unitPrice(this.card, name) ?? 0n)
    }
    return ceilDiv(micro * multiplier, divisor * million)
  }

  explain(usage: Usage, units: Units | null): string {
    const terms = this.lines(usage, units)
      .filter(({ priceNano }) => priceNano > 0n)
      .map(({ count, priceNano }) => `${count} * ${priceNano}`)
    const sum = terms.length === 0 ? '0' : `(${terms.join(' + ')})`
    return `ceil(${sum} * ${this.multiplierPpm} / 10^12) = ${this.charge(usage, units)}`
  }

  lines(usage: Usage, units: Units | null): PricedLine[] {
    const { prices } = this.bandFor(usage)
    const line = (item: string, micro: bigint, priceNano: Nano): PricedLine => {
      const amountNano = (micro * priceNano * this.multiplier) / (divisor * million)
      return { item, count: decimal(micro), priceNano, amountNano }
    }
    const tokens = tokenPrices.map((kind, at) =>
      line(kind, BigInt(countOf(usage, at)) * million, prices[at] ?? 0n),
    )
    const others = Object.entries(units ?? {}).map(([name, count]) =>
      line(name, micros(count), unitPrice(this.card, name) ?? 0n),
    )
    return [...tokens, ...others].filter(({ count }) => count !== '0')
  }

  ceiling({ inputTokens, audioTokens = 0, outputTokens, units }: Expected): Nano {
    const input = whole(inputTokens)
    const audio = whole(audioTokens)
    const output = whole(outputTokens)
    const { dearest, plainDearest: plain } = this.bandAt(input + audio)
    const plainSum = input * plain.input + audio * plain.audio + output * plain.output
    const tokens =
      plainSum <= Number.MAX_SAFE_INTEGER && this.multiplier === million
        ? byMillion(plainSum)
        : this.multiplied(
            BigInt(input) * dearest.input +
              BigInt(audio) * dearest.audio +
              BigInt(output) * dearest.output,
          )
    return units === null ? tokens : tokens + this.charge(noTokens, units)
  }

  private multiplied(sum: bigint): Nano {
    return ceilDiv(sum * this.multiplier, divisor)
  }

  missing(kind: ModelKind, units: Units | null): string | null {
    if (units !== null) return missingPrice(this.card, kind, units)
    let missing = this.missingFor.get(kind)
    if (missing === undefined) {
      missing = missingPrice(this.card, kind, null)
      this.missingFor.set(kind, missing)
    }
    return missing
  }

  prices(unit: string): boolean {
    return unitPrice(this.card, unit) !== null
  }

  private bandFor(usage: Usage): CompiledBand {
    if (this.bands.length === 1) return this.base
    let prompt = 0
    for (const kind of promptKinds) prompt += whole(usage[kind] ?? 0)
    return this.bandAt(prompt)
  }

  private bandAt(promptTokens: number): CompiledBand {
    if (this.bands.length === 1) return this.base
    return this.bands.findLast(({ above }) => promptTokens > above) ?? this.base
  }
}

/** Compiles the last of `bands`; those before it are the lower ones. */
function compileBand(bands: readonly Band[]): CompiledBand {
  const band = bands.at(-1)
  const prices = tokenPrices.map((kind) => band?.prices.get(kind) ?? 0n)
  const dearestOf = (kinds: readonly TokenKind[]): Nano =>
    bands
      .flatMap(({ prices }) => kinds.map((kind) => prices.get(kind) ?? 0n))
      .reduce((a, b) => (a > b ? a : b), 0n)
  const dearest = {
    input: dearestOf(likelyInput),
    audio: dearestOf(['audioInput']),
    output: dearestOf(replyKinds),
  }
  const { input, audio, output } = dearest
  return {
    above: band?.above ?? 0,
    prices,
    plainPrices: prices.map(Number),
    dearest,
    plainDearest: { input: Number(input), audio: Number(audio), output: Number(output) },
  }
}

/** The price of all tokens, times a million. Exact if the sum is a safe integer, since then all its terms are. */
function plainPriceOf(usage: Usage, { plainPrices }: CompiledBand): number {
  let sum = 0
  for (let at = 0; at < plainPrices.length; at++) sum += countOf(usage, at) * (plainPrices[at] ?? 0)
  return sum
}

/** The same sum without a limit. */
function priceOf(usage: Usage, { prices }: CompiledBand): bigint {
  let sum = 0n
  for (const [at, price] of prices.entries()) sum += BigInt(countOf(usage, at)) * price
  return sum
}

/** A safe integer divided by a million, rounded up: without its remainder it divides exactly. */
function byMillion(sum: number): Nano {
  const rest = sum % 1_000_000
  return BigInt((sum - rest) / 1_000_000 + (rest > 0 ? 1 : 0))
}

function countOf(usage: Usage, at: number): number {
  const kind = tokenPrices[at]
  return kind === undefined ? 0 : whole(usage[kind] ?? 0)
}

/** Readers of usage return whole counts of at least 0; a count that is not finite is a bug. */
function whole(count: number): number {
  if (!Number.isFinite(count)) throw new RangeError(`a count of ${count} cannot be priced`)
  return count > 0 ? Math.floor(count) : 0
}

/** The count in millionths of a unit: exact with up to six decimals, else the nearest. */
function micros(count: number): bigint {
  if (Number.isInteger(count)) return BigInt(whole(count)) * million
  if (!Number.isFinite(count) || count > Number.MAX_SAFE_INTEGER) {
    throw new RangeError(`${count} units cannot be priced`)
  }
  return count > 0 ? BigInt(count.toFixed(6).replace('.', '')) : 0n
}

function decimal(micro: bigint): string {
  const digits = String(micro).padStart(7, '0')
  const fraction = digits.slice(-6).replace(/0+$/, '')
  return fraction === '' ? digits.slice(0, -6) : `${digits.slice(0, -6)}.${fraction}`
}
