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

/**
 * Priced per million of the unit; `image` may be narrowed by size and quality: `image/1024x1024/hd`, and `second` by a
 * video's size or its lines: `second/1920x1080`, `second/1080p`.
 */
const unitPrices = [
  'request',
  'search',
  'image',
  'second',
  'character',
  'cachedAudio',
  'cachedImage',
] as const

export const priceNames: readonly string[] = [...tokenPrices, ...unitPrices]

/** One price name with its tier, its image size and quality, a size before a quality, or its video's size. */
export const priceNamePattern = new RegExp(
  `^((${tokenPrices.join('|')})(>[1-9]\\d{0,8})?|(${unitPrices.join('|')})` +
    '|image(/[1-9]\\d{0,4}x[1-9]\\d{0,4})?(/[a-z]+)?' +
    '|second/([1-9]\\d{0,4}x[1-9]\\d{0,4}|[1-9]\\d{1,4}p))$',
)
