// Parses a price card's names and decimals once into numbers: the price of each kind of token in each tier.

import { parentOf, priceNamePattern, type TokenKind, tokenPrices } from '../config/prices.ts'
import { type Nano, parseUnits } from '../money.ts'

/** Prices for prompts longer than `above` tokens; a kind without a price, whose parents have none either, is absent. */
export interface Band {
  readonly above: number
  /** Nano-units per million tokens. */
  readonly prices: ReadonlyMap<TokenKind, Nano>
}

export interface Card {
  /** The first applies to every prompt, those after it to longer and longer ones. */
  readonly bands: readonly [Band, ...Band[]]
  /** Nano-units per million units, by unit name (`request`, `image/1024x1024/hd`). */
  readonly units: ReadonlyMap<string, Nano>
  /** The highest price of an image; null where no image has one. */
  readonly dearestImage: Nano | null
  /** The highest price of a second; null where no second has one. */
  readonly dearestSecond: Nano | null
}

/** Throws where a name or a price is invalid: cards are checked before they are stored. */
export function readCard(prices: Readonly<Record<string, string>>): Card {
  const own = new Map<string, Nano>()
  const thresholds = new Set<number>()
  for (const [name, text] of Object.entries(prices)) {
    own.set(name, readPrice(name, text))
    const tier = name.indexOf('>')
    if (tier >= 0) thresholds.add(Number(name.slice(tier + 1)))
  }
  const tiers = [...thresholds].sort((a, b) => a - b)
  const units = new Map([...own].filter(([name]) => !isTokenPrice(name)))
  return {
    bands: [
      bandOf(own, []),
      ...tiers.map((above) => bandOf(own, tiers.slice(0, tiers.indexOf(above) + 1))),
    ],
    units,
    dearestImage: dearest(units, isImage),
    dearestSecond: dearest(units, isSecond),
  }
}

/** Throws where `readCard` would, without building a card. */
export function checkCard(prices: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(prices)) readPrice(name, text)
}

function readPrice(name: string, text: string): Nano {
  const price = parseUnits(text)
  if (price === null || !priceNamePattern.test(name)) {
    throw new Error(`${name}: ${JSON.stringify(text)} is not a price`)
  }
  return price
}

function dearest(units: ReadonlyMap<string, Nano>, fits: (name: string) => boolean): Nano | null {
  let most: Nano | null = null
  for (const [name, price] of units) if (fits(name) && (most === null || price > most)) most = price
  return most
}

export function isTokenPrice(name: string): boolean {
  return tokenPrices.some((kind) => name === kind || name.startsWith(`${kind}>`))
}

export function isImage(name: string): boolean {
  return name === 'image' || name.startsWith('image/')
}

function isSecond(name: string): boolean {
  return name === 'second' || name.startsWith('second/')
}

/** `tiers`: the thresholds that a prompt of this band exceeds, lowest first. */
function bandOf(own: ReadonlyMap<string, Nano>, tiers: readonly number[]): Band {
  const prices = new Map<TokenKind, Nano>()
  for (const kind of tokenPrices) {
    const price = priceOf(own, kind, tiers)
    if (price !== null) prices.set(kind, price)
  }
  return { above: tiers.at(-1) ?? 0, prices }
}

/** The kind's own price in its highest tier, else its own without a tier, else its parent's in the same band. */
function priceOf(
  own: ReadonlyMap<string, Nano>,
  kind: TokenKind,
  tiers: readonly number[],
): Nano | null {
  const tier = tiers.findLast((above) => own.has(`${kind}>${above}`))
  const price = own.get(tier === undefined ? kind : `${kind}>${tier}`)
  if (price !== undefined) return price
  const parent = parentOf(kind)
  return parent === null ? null : priceOf(own, parent, tiers)
}

/**
 * The price of one unit. An image's: by size and quality, else by size, by quality, or of any image; one that fits none
 * of the card's image prices costs the highest of them. A video second's: by size, by its lines, or of any second, else
 * the highest. Null: the card has no price for such units.
 */
export function unitPrice(card: Card, name: string): Nano | null {
  if (isSecond(name)) return fittingSecond(card, name) ?? card.dearestSecond
  if (!isImage(name)) return card.units.get(name) ?? null
  return fittingImage(card, name) ?? card.dearestImage
}

/** The lines are the shorter side: 1080x1920 and 1920x1080 both have 1080. */
function fittingSecond({ units }: Card, name: string): Nano | null {
  const [, size] = name.split('/')
  if (size === undefined) return units.get('second') ?? null
  const lines = `second/${Math.min(...size.split('x').map(Number))}p`
  return units.get(name) ?? units.get(lines) ?? units.get('second') ?? null
}

/** Null where the card has prices only for other images, or for none. */
export function fittingImage(card: Card, name: string): Nano | null {
  const [, ...narrowed] = name.split('/')
  const size = narrowed.find((part) => /^\d+x\d+$/.test(part))
  const quality = narrowed.find((part) => part !== size)
  const candidates = [
    ...(size !== undefined && quality !== undefined ? [`image/${size}/${quality}`] : []),
    ...(size !== undefined ? [`image/${size}`] : []),
    ...(quality !== undefined ? [`image/${quality}`] : []),
    'image',
  ]
  for (const candidate of candidates) {
    const price = card.units.get(candidate)
    if (price !== undefined) return price
  }
  return null
}
