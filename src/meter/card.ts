// A card's prices, written as names and decimals, read once into numbers: what each kind costs in which tier.

import { parentOf, priceNamePattern, type TokenKind, tokenPrices } from '../config/prices.ts'
import { type Nano, parseUnits } from '../money.ts'

/** Prices of prompts longer than `above` tokens; a kind that has none, and whose parents have none, is absent. */
export interface Band {
  readonly above: number
  /** In nano-units per million tokens. */
  readonly prices: ReadonlyMap<TokenKind, Nano>
}

export interface Card {
  /** The first is for every prompt, those after it for ever longer ones. */
  readonly bands: readonly [Band, ...Band[]]
  /** By unit name (`request`, `image/1024x1024/hd`), in nano-units per million. */
  readonly units: ReadonlyMap<string, Nano>
  /** The dearest price of an image; null where none has one. */
  readonly dearestImage: Nano | null
  /** The dearest price of a second; null where none has one. */
  readonly dearestSecond: Nano | null
}

/** Throws where a name is no price's name, or a price is no decimal: cards are checked before they are kept. */
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

/** Throws where `readCard` does, and makes nothing. */
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

/** `tiers` are the thresholds that a prompt of this band is above, lowest first. */
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
 * What a unit costs: an image by its size and quality, else by its size, its quality, or as any image; one that
 * fits none of an image model's prices costs what its dearest image does. A second of a video by its size, its lines,
 * or as any second, else what the dearest does. null: the card does not price such units.
 */
export function unitPrice(card: Card, name: string): Nano | null {
  if (isSecond(name)) return fittingSecond(card, name) ?? card.dearestSecond
  if (!isImage(name)) return card.units.get(name) ?? null
  return fittingImage(card, name) ?? card.dearestImage
}

/** 1080x1920 and 1920x1080 have 1080 lines. */
function fittingSecond({ units }: Card, name: string): Nano | null {
  const [, size] = name.split('/')
  if (size === undefined) return units.get('second') ?? null
  const lines = `second/${Math.min(...size.split('x').map(Number))}p`
  return units.get(name) ?? units.get(lines) ?? units.get('second') ?? null
}

/** null where the card has prices for other images only, or for none. */
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
