// Sizes and qualities of the known image models, with their defaults.

export type ImageOperation = 'generations' | 'edits' | 'variations'

export interface ImageModel {
  /** Checks a `WIDTHxHEIGHT`, and describes the sizes allowed. */
  readonly sizes: SizeRule
  /** Null: the model has no qualities, and the parameter changes nothing. */
  readonly qualities: readonly string[] | null
  /** The model's words for `standard` and `hd`, which every model accepts here, where it has others. */
  readonly nearest?: ReadonlyMap<string, string>
  /** Whether it accepts `size: auto` and `quality: auto`. */
  readonly auto: boolean
  readonly mostImages: number
  readonly operations: readonly ImageOperation[]
  /** The defaults; null: the model chooses, and its reply says what. */
  readonly usualSize: string | null
  readonly usualQuality: string | null
  /** Media types of the images it accepts, where it does not accept all. */
  readonly takes?: readonly string[]
  /** By default, an edit has the size of the given image. */
  readonly follows?: true
}

interface SizeRule {
  /** Completes the sentence `size must be ...`. */
  readonly says: string
  allows(size: string): boolean
}

interface Area {
  readonly width: number
  readonly height: number
}

/** Null where it is not a `WIDTHxHEIGHT`. */
function areaOf(size: string): Area | null {
  const found = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(size)
  return found === null ? null : { width: Number(found[1]), height: Number(found[2]) }
}

function listed(...sizes: readonly string[]): SizeRule {
  return { says: `one of ${sizes.join(', ')}`, allows: (size) => sizes.includes(size) }
}

function ruled(says: string, fits: (area: Area) => boolean): SizeRule {
  return {
    says,
    allows(size) {
      const area = areaOf(size)
      return area !== null && fits(area)
    },
  }
}

/** How far a size may be from a ratio and still count as it: vendors round to multiples of 8 to 64. */
const nearRatio = 0.04

/** The one of `ratios` (`16:9`) that a size matches; null where none is near. */
export function ratioOf(size: string, ratios: readonly string[]): string | null {
  const area = areaOf(size)
  if (area === null) return null
  let best: string | null = null
  let least = nearRatio
  for (const ratio of ratios) {
    const [across = 0, down = 1] = ratio.split(':').map(Number)
    const off = Math.abs(Math.log((area.width / area.height) * (down / across)))
    if (off >= least) continue
    best = ratio
    least = off
  }
  return best
}

/** The vendors' class of a size, `1K`, `2K` or `4K`, by the geometric mean of its sides. */
export function sideClass(size: string): '1K' | '2K' | '4K' {
  const { width, height } = areaOf(size) ?? { width: 1, height: 1 }
  const side = Math.sqrt(width * height)
  if (side <= 1_448) return '1K'
  return side <= 2_800 ? '2K' : '4K'
}

const longestSide = 6_400

function ratios(most: '1K' | '2K' | '4K', list: readonly string[]): SizeRule {
  const classes = ['1K', '2K', '4K'].slice(0, ['1K', '2K', '4K'].indexOf(most) + 1)
  const says = `WIDTHxHEIGHT in one of the ratios ${list.join(', ')}, in ${classes.join(', ')} (such as 1024x1024)`
  return ruled(says, ({ width, height }) => {
    const size = `${width}x${height}`
    return (
      Math.max(width, height) <= longestSide &&
      classes.includes(sideClass(size)) &&
      ratioOf(size, list) !== null
    )
  })
}

/** Google, "Image generation with Gemini", aspect ratios and image sizes. */
export const geminiRatios: readonly string[] = [
  ...['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'],
]
/** Only the 3.1 Flash image models have these. */
export const geminiWideRatios: readonly string[] = [...geminiRatios, '1:4', '4:1', '1:8', '8:1']
/** xAI, "Image generations". */
export const xaiRatios: readonly string[] = [
  ...['1:1', '3:4', '4:3', '9:16', '16:9', '2:3', '3:2', '9:19.5', '19.5:9', '9:20', '20:9'],
  ...['1:2', '2:1'],
]
/** Stability, "Stable Image". */
export const stabilityRatios: readonly string[] = [
  ...['16:9', '1:1', '21:9', '2:3', '3:2', '4:5', '5:4', '9:16', '9:21'],
]
/** Black Forest Labs, FLUX.1 Kontext and 1.1 [pro] Ultra: any ratio from 21:9 to 9:21; only these are offered. */
export const fluxRatios: readonly string[] = [
  ...['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '9:21', '21:9'],
]

const everything: readonly ImageOperation[] = ['generations', 'edits', 'variations']
const made: readonly ImageOperation[] = ['generations', 'edits']
const free = { qualities: null, auto: true, usualSize: null, usualQuality: null } as const

/** OpenAI's newer names for the qualities of its older models; xAI uses the newer names too. */
export const nearestQuality: ReadonlyMap<string, string> = new Map(
  Object.entries({ standard: 'medium', hd: 'high' }),
)

/** OpenAI's GPT image models. */
const gptImage = {
  ...free,
  sizes: listed('1024x1024', '1536x1024', '1024x1536', 'auto'),
  qualities: ['low', 'medium', 'high', 'auto'],
  nearest: nearestQuality,
  mostImages: 10,
  operations: made,
}

const multipleOf16 = ruled(
  'auto, or WIDTHxHEIGHT of multiples of 16 up to 3840x2160 with a ratio between 1:3 and 3:1',
  ({ width, height }) =>
    width % 16 === 0 &&
    height % 16 === 0 &&
    Math.max(width, height) <= 3_840 &&
    width * height <= 3_840 * 2_160 &&
    Math.max(width, height) <= 3 * Math.min(width, height),
)

/** FLUX.1: sides from 256 to 1440 in steps of 32. */
const fluxSides = ruled('WIDTHxHEIGHT of multiples of 32 from 256 to 1440', ({ width, height }) =>
  [width, height].every((side) => side % 32 === 0 && side >= 256 && side <= 1_440),
)
/** FLUX.2: at most four million pixels, in steps of 16. */
const flux2Sides = ruled(
  'WIDTHxHEIGHT of multiples of 16 from 64 on, of at most 4 million pixels',
  ({ width, height }) =>
    [width, height].every((side) => side % 16 === 0 && side >= 64) && width * height <= 4_194_304,
)
/** Qwen-Image from 2.0 on. */
const qwenArea = ruled(
  'WIDTHxHEIGHT of between 512x512 and 2048x2048 pixels in all',
  ({ width, height }) => width * height >= 262_144 && width * height <= 4_194_304,
)
/** FLUX at fal. */
const falSides = ruled('WIDTHxHEIGHT of sides from 256 to 1536', ({ width, height }) =>
  [width, height].every((side) => side >= 256 && side <= 1_536),
)
/** Wan: sides from 512 to 1440. */
const wanSides = ruled('WIDTHxHEIGHT of sides from 512 to 1440', ({ width, height }) =>
  [width, height].every((side) => side >= 512 && side <= 1_440),
)

/** The first pattern that matches a model's name decides. */
const table: readonly (readonly [name: RegExp, model: ImageModel])[] = [
  [
    /^dall-e-3$/,
    {
      sizes: listed('1024x1024', '1792x1024', '1024x1792'),
      qualities: ['standard', 'hd'],
      auto: false,
      mostImages: 1,
      operations: ['generations'],
      usualSize: '1024x1024',
      usualQuality: 'standard',
    },
  ],
  [
    /^dall-e-2$/,
    {
      sizes: listed('256x256', '512x512', '1024x1024'),
      qualities: ['standard'],
      nearest: new Map([['hd', 'standard']]),
      auto: false,
      mostImages: 10,
      operations: everything,
      usualSize: '1024x1024',
      usualQuality: 'standard',
      takes: ['image/png'],
    },
  ],
  [
    /^gpt-image-2/,
    {
      ...gptImage,
      sizes: multipleOf16,
      qualities: ['low', 'medium', 'high', 'xhigh', 'max', 'auto'],
    },
  ],
  [/^(gpt-image-1|chatgpt-image)/, gptImage],
  [
    /^gemini-2\.5-flash-image/,
    { ...free, sizes: ratios('1K', geminiRatios), mostImages: 10, operations: made },
  ],
  [
    /^gemini-3\.1-flash-image/,
    { ...free, sizes: ratios('4K', geminiWideRatios), mostImages: 10, operations: made },
  ],
  [
    /^gemini-.*-image/,
    { ...free, sizes: ratios('4K', geminiRatios), mostImages: 10, operations: made },
  ],
  [
    /^grok-imagine-image/,
    {
      ...free,
      nearest: nearestQuality,
      sizes: ratios('2K', xaiRatios),
      mostImages: 10,
      operations: made,
    },
  ],
  [
    /^flux-(pro-1\.1-ultra|kontext-)/,
    { ...free, sizes: ratios('2K', fluxRatios), mostImages: 10, operations: made },
  ],
  [
    /^flux-2-/,
    {
      ...free,
      sizes: flux2Sides,
      usualSize: '1024x1024',
      follows: true,
      mostImages: 10,
      operations: made,
    },
  ],
  [
    /^flux-(pro-1\.1|pro|dev)$/,
    { ...free, sizes: fluxSides, mostImages: 10, operations: ['generations'] },
  ],
  [
    /^(stable-image-(core|ultra)|sd3(\.5)?(-|$))/,
    { ...free, sizes: ratios('1K', stabilityRatios), mostImages: 10, operations: made },
  ],
  [
    /^qwen-image(-plus|-max)?$/,
    {
      ...free,
      sizes: listed('1328x1328', '1664x928', '928x1664', '1472x1104', '1104x1472'),
      mostImages: 10,
      operations: ['generations'],
    },
  ],
  [/^qwen-image-[2-9]/, { ...free, sizes: qwenArea, mostImages: 6, operations: made }],
  [
    /^fal-ai\/(flux\/(dev|schnell)|flux-pro\/v1\.1)$/,
    {
      ...free,
      sizes: falSides,
      usualSize: '1024x1024',
      mostImages: 4,
      operations: ['generations'],
    },
  ],
  [
    /^fal-ai\/nano-banana-(pro|2)/,
    {
      ...free,
      sizes: ratios('4K', geminiRatios),
      usualSize: '1024x1024',
      mostImages: 4,
      operations: made,
    },
  ],
  [/^wan[\d.]+-t2i/, { ...free, sizes: wanSides, mostImages: 10, operations: ['generations'] }],
]

/** Prefixes that some clients and hosts put before the maker's own name. */
const makers = /^(openai|google|x-ai|xai|models)\//

/** Null for an unknown model: its vendor judges what is asked. */
export function imageModel(id: string): ImageModel | null {
  const name = id.toLowerCase().replace(makers, '')
  return table.find(([pattern]) => pattern.test(name))?.[1] ?? null
}
