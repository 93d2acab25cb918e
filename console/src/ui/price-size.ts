// The number of units for which prices are shown.

/** These are requested in such small numbers that the price of one is clearer than the price of a million. */
const countedSingly: ReadonlySet<string> = new Set([
  'image',
  'second',
  'request',
  'search',
  'webSearch',
])

/**
 * The number of units for which a unit's prices are shown: a million if the price of one is not a whole number of
 * nano-units.
 */
export function sizeOf(unit: string, ...nanos: readonly (string | null)[]): 1 | 1_000_000 {
  const isWhole = nanos.every((nano) => BigInt(nano ?? 0) % 1_000_000n === 0n)
  return countedSingly.has(unit) && isWhole ? 1 : 1_000_000
}
