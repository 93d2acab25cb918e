// Of how many units prices are shown.

/** So few are asked for at once that a price of one says more than a price of a million. */
const countedSingly: ReadonlySet<string> = new Set([
  'image',
  'second',
  'request',
  'search',
  'webSearch',
])

/** Of how many a unit's prices are shown: of a million where the price of one has no whole nano-units. */
export function sizeOf(unit: string, ...nanos: readonly (string | null)[]): 1 | 1_000_000 {
  const isWhole = nanos.every((nano) => BigInt(nano ?? 0) % 1_000_000n === 0n)
  return countedSingly.has(unit) && isWhole ? 1 : 1_000_000
}
