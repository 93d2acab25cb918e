// Calculates the cost of usage by the rules of docs/pricing.md alone: fractions of decimal strings, sharing no code
// with the meter.

/** A fraction of whole numbers. */
type Fraction = readonly [above: bigint, below: bigint]

function fraction(decimal: string): Fraction {
  const [whole = '0', places = ''] = decimal.split('.')
  return [BigInt(whole + places), 10n ** BigInt(places.length)]
}

const times = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * c, b * d]
const plus = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * d + c * b, b * d]

export interface Authorization {
  readonly prices: Readonly<Record<string, string>>
  readonly multiplier: string
  /** Tokens by kind. */
  readonly tokens: Readonly<Record<string, number | undefined>>
  /** Other units by price name. */
  readonly units?: Readonly<Record<string, number>>
}

/** Each kind, followed by those whose price it takes if it has none. */
const lines: readonly (readonly string[])[] = [
  ['input'],
  ['cachedInput', 'input'],
  ['cacheWrite', 'input'],
  ['cacheWrite1h', 'cacheWrite', 'input'],
  ['audioInput', 'input'],
  ['imageInput', 'input'],
  ['output'],
  ['reasoning', 'output'],
  ['audioOutput', 'output'],
  ['imageOutput', 'output'],
]

function tokenPrice(
  prices: Authorization['prices'],
  line: readonly string[],
  prompt: number,
): string {
  for (const kind of line) {
    let best = { above: -1, price: '' }
    for (const [name, price] of Object.entries(prices)) {
      const [own, above = '0'] = name.split('>')
      if (own !== kind || (name.includes('>') && prompt <= Number(above))) continue
      if (Number(above) > best.above) best = { above: Number(above), price }
    }
    if (best.price !== '') return best.price
  }
  return '0'
}

function imagePrice(prices: Authorization['prices'], name: string): string {
  const parts = name.split('/').slice(1)
  const rank = (priced: string): number => {
    const narrowed = priced.split('/').slice(1)
    if (!narrowed.every((part) => parts.includes(part))) return -1
    return narrowed.length * 2 + (/\d/.test(narrowed[0] ?? '') ? 1 : 0)
  }
  const images = Object.entries(prices).filter(([priced]) => /^image(\/|$)/.test(priced))
  const fitting = images.filter(([priced]) => rank(priced) >= 0)
  const [best] = fitting.sort(([a], [b]) => rank(b) - rank(a))
  if (best !== undefined) return best[1]
  const [dearest] = images.map(([, price]) => price).sort((a, b) => Number(b) - Number(a))
  return dearest ?? '0'
}

/** In nano-units of the currency. */
export function billed({ prices, multiplier, tokens, units = {} }: Authorization): bigint {
  const ofPrompt = lines.slice(0, 6).map(([kind = '']) => tokens[kind] ?? 0)
  const prompt = ofPrompt.reduce((a, b) => a + b, 0)
  let sum: Fraction = [0n, 1n]
  for (const line of lines) {
    const count = tokens[line[0] ?? ''] ?? 0
    if (count > 0)
      sum = plus(sum, times([BigInt(count), 1n], fraction(tokenPrice(prices, line, prompt))))
  }
  for (const [name, count] of Object.entries(units)) {
    const price = name.startsWith('image') ? imagePrice(prices, name) : (prices[name] ?? '0')
    sum = plus(sum, times(fraction(String(count)), fraction(price)))
  }
  const [above, below] = times(times(sum, fraction(multiplier)), [10n ** 9n, 10n ** 6n])
  return above / below + (above % below > 0n ? 1n : 0n)
}
