// A card's prices, written as names and decimals, read once into numbers: what each kind costs in which tier.

import { priceNamePattern, tokenPrices } from '../config/prices.ts'
import { type Nano, parseUnits } from '../money.ts'

export type TokenKind = (typeof tokenPrices)[number]

/** What a kind costs that has no price of its own. */
export const parents: Readonly<Partial<Record<TokenKind, TokenKind>>> = {
  cachedInput: 'input',
  cacheWrite: 'input',
  cacheWrite1h: 'cacheWrite',
  audioInput: 'input',
  imageInput: 'input',
  reasoning: 'output',
  audioOutput: 'output',
  imageOutput: 'output',
}

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
}

/** Throws where a name is no price's name, or a price is no decimal: cards are checked before they are kept. */
export function readCard(prices: Readonly<Record<string, string>>): Card {
  const own = new Map<string, Nano>()
  const thresholds = new Set<number>()
  for (const [name, text] of Object.entries(prices)) {
    const price = parseUnits(text)
    if (price === null || !priceNamePattern.test(name)) {
      throw new Error(`${name}: ${JSON.stringify(text)} is not a price`)
    }
    own.set(name, price)
    const tier = name.indexOf('>')
    if (tier >= 0) thresholds.add(Number(name.slice(tier + 1)))
  }
  const tiers = [...thresholds].sort((a, b) => a - b)
  const units = new Map([...own].filter(([name]) => !isTokenPrice(name)))
  const images = [...units].filter(([name]) => isImage(name)).map(([, price]) => price)
  return {
    bands: [
      bandOf(own, []),
      ...tiers.map((above) => bandOf(own, tiers.slice(0, tiers.indexOf(above) + 1))),
    ],
    units,
    dearestImage: images.length === 0 ? null : images.reduce((a, b) => (a > b ? a : b)),
  }
}

function isTokenPrice(name: string): boolean {
  return tokenPrices.some((kind) => name === kind || name.startsWith(`${kind}>`))
}

export function isImage(name: string): boolean {
  return name === 'image' || name.startsWith('image/')
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
  const parent = parents[kind]
  return parent === undefined ? null : priceOf(own, parent, tiers)
}

/**
 * What a unit costs: an image by its size and quality, else by its size, its quality, or as any image; one that
 * fits none of an image model's prices costs what its dearest image does. null: the card does not price such units.
 */
export function unitPrice(card: Card, name: string): Nano | null {
  if (!isImage(name)) return card.units.get(name) ?? null
  return fittingImage(card, name) ?? card.dearestImage
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
