// What is priced: the one table of token kinds, and the price names that a configuration may use.

/**
 * The kinds of token: which side of a request each is on, and whose price a kind without its own takes. They are
 * disjoint, so that sums over them count no token twice. Priced per million; each may have tiers by length of the
 * prompt: `input>200000`.
 */
const tokenKinds = {
  input: { side: 'prompt', parent: null },
  cachedInput: { side: 'prompt', parent: 'input' },
  cacheWrite: { side: 'prompt', parent: 'input' },
  cacheWrite1h: { side: 'prompt', parent: 'cacheWrite' },
  output: { side: 'reply', parent: null },
  reasoning: { side: 'reply', parent: 'output' },
  audioInput: { side: 'prompt', parent: 'input' },
  audioOutput: { side: 'reply', parent: 'output' },
  imageInput: { side: 'prompt', parent: 'input' },
  imageOutput: { side: 'reply', parent: 'output' },
} as const

export type TokenKind = keyof typeof tokenKinds
export type TokenCounts = Readonly<Record<TokenKind, number>>

export const tokenPrices = Object.keys(tokenKinds) as readonly TokenKind[]
export const promptKinds = tokenPrices.filter((kind) => tokenKinds[kind].side === 'prompt')
export const replyKinds = tokenPrices.filter((kind) => tokenKinds[kind].side === 'reply')

/**
 * Every kind, 0 where nothing was counted. Written out, without a loop, since each request's record is made with it.
 */
export function tokenCounts(counts: Partial<TokenCounts>): TokenCounts {
  return {
    input: counts.input ?? 0,
    cachedInput: counts.cachedInput ?? 0,
    cacheWrite: counts.cacheWrite ?? 0,
    cacheWrite1h: counts.cacheWrite1h ?? 0,
    output: counts.output ?? 0,
    reasoning: counts.reasoning ?? 0,
    audioInput: counts.audioInput ?? 0,
    audioOutput: counts.audioOutput ?? 0,
    imageInput: counts.imageInput ?? 0,
    imageOutput: counts.imageOutput ?? 0,
  }
}

export const noTokens = tokenCounts({})

/** The kind whose price applies where this one has none of its own. */
export function parentOf(kind: TokenKind): TokenKind | null {
  return tokenKinds[kind].parent
}

/** All tokens of the prompt, whatever their price: the number that selects the tier. */
export function promptTokens(counts: Partial<TokenCounts>): number {
  return sumOf(counts, promptKinds)
}

export function replyTokens(counts: Partial<TokenCounts>): number {
  return sumOf(counts, replyKinds)
}

function sumOf(counts: Partial<TokenCounts>, kinds: readonly TokenKind[]): number {
  let sum = 0
  for (const kind of kinds) sum += counts[kind] ?? 0
  return sum
}

/**
 * Calls that a vendor makes by itself during a chat, counted beside the tokens, and tokens of the pictures that a model
 * has another one make. Priced per million.
 */
const callKinds = ['webSearch', 'toolImageInput', 'toolImageOutput'] as const

export type CallCounts = Readonly<Record<(typeof callKinds)[number], number>>

/** Counted calls by price name; null where none was counted. */
export function callsIn(counts: Partial<CallCounts>): Partial<CallCounts> | null {
  const calls = callKinds.filter((kind) => counts[kind] !== undefined)
  return calls.length === 0 ? null : Object.fromEntries(calls.map((kind) => [kind, counts[kind]]))
}

/**
 * Priced per million of the unit. `image` may be qualified by size and quality, `image/1024x1024/hd`, and `second` by a
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
  ...callKinds,
] as const

export const priceNames: readonly string[] = [...tokenPrices, ...unitPrices]

/** A price name with its tier, with an image's size and quality (size first), or with a video's size. */
export const priceNamePattern = new RegExp(
  `^((${tokenPrices.join('|')})(>[1-9]\\d{0,8})?|(${unitPrices.join('|')})` +
    '|image(/[1-9]\\d{0,4}x[1-9]\\d{0,4})?(/[a-z]+)?' +
    '|second/([1-9]\\d{0,4}x[1-9]\\d{0,4}|[1-9]\\d{1,4}p))$',
)
