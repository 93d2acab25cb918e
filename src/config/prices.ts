// The names a price may have in the configuration.

/** Priced per million tokens; each may have tiers by length of the prompt: `input>200000`. */
export const tokenPrices = [
  'input',
  'cachedInput',
  'cacheWrite',
  'cacheWrite1h',
  'output',
  'reasoning',
  'audioInput',
  'audioOutput',
  'imageInput',
  'imageOutput',
] as const

/** Priced per million of the unit; `image` may be narrowed by size and quality: `image/1024x1024/hd`. */
export const unitPrices = ['request', 'search', 'image', 'second', 'character'] as const

export const priceNames: readonly string[] = [...tokenPrices, ...unitPrices]

/** One price name with its tier or its image size and quality; a size comes before a quality. */
export const priceNamePattern = new RegExp(
  `^((${tokenPrices.join('|')})(>[1-9]\\d{0,8})?|(${unitPrices.join('|')})` +
    '|image(/[1-9]\\d{0,4}x[1-9]\\d{0,4})?(/[a-z]+)?)$',
)
