// How many tokens images, audio, video and documents in a prompt count for, by the rules that vendors publish.

import type { PictureSize } from '../wire/media/picture-size.ts'

/** The rules of one family of models. Each function returns whole tokens, never fewer than the vendor may bill. */
export interface MediaRules {
  picture(size: PictureSize, detail: string | null): number
  /** The tokens of a picture of unknown size at most; `otherRules` where the vendor publishes nothing. */
  mostPicture(detail: string | null): number
  /** A picture of unknown size where usage is not reported: the most, if the vendor publishes it. */
  likelyPicture(detail: string | null): number
  readonly audioPerSecond: number
  videoPerSecond(detail: string | null): number
  readonly page: { readonly most: number; readonly likely: number }
  readonly mostPages: number
}

type Pictures = Pick<MediaRules, 'picture' | 'mostPicture' | 'likelyPicture'>

/**
 * Anthropic, "PDF support" (as known on 2026-11-22): the text of a page is 1,500 to 3,000 tokens, and each page is also
 * read as a picture. The only vendor that publishes a number for the text of a page.
 */
const pageText = { most: 3_000, likely: 1_500 }
/** Gemini counts 32 tokens per second of audio ("Understand and count tokens", as known on 2026-11-22): the most. */
const mostAudioPerSecond = 32
/** Gemini, "Video understanding" (as known on 2026-11-22): about 300 tokens per second, audio included. */
const mostVideoPerSecond = 300
/** Gemini, "Document understanding" (as known on 2026-11-22): at most this many pages; no vendor accepts more. */
const mostPages = 1_000

function atMost(most: (detail: string | null) => number, picture: Pictures['picture']): Pictures {
  return {
    picture: (size, detail) => Math.min(picture(size, detail), most(detail)),
    mostPicture: most,
    likelyPicture: most,
  }
}

/** Rules in which a page of a document counts as its text and one picture. */
function withPictures(pictures: Pictures, audioPerSecond: number, pages: number): MediaRules {
  const most = pictures.mostPicture(null)
  return {
    ...pictures,
    audioPerSecond,
    videoPerSecond: () => mostVideoPerSecond,
    page: { most: pageText.most + most, likely: pageText.likely + pictures.likelyPicture(null) },
    mostPages: pages,
  }
}

function patches({ width, height }: PictureSize, side: number): number {
  return Math.ceil(width / side) * Math.ceil(height / side)
}

/** Scales a size down in proportion, so that its longer side is at most `longest`. */
function within({ width, height }: PictureSize, longest: number): PictureSize {
  const scale = Math.min(1, longest / Math.max(width, height))
  return { width: Math.max(1, width * scale), height: Math.max(1, height * scale) }
}

/** OpenAI, "Images and vision", tiles of 512 pixels (developers.openai.com, as known on 2026-11-22). */
function tiles(base: number, tile: number): MediaRules {
  // The largest picture is 2048 by 768 pixels: four tiles by two.
  const most = (detail: string | null) => (detail === 'low' ? base : base + 8 * tile)
  const picture: Pictures['picture'] = (size, detail) => {
    if (detail === 'low') return base
    const fitted = within(size, 2_048)
    const scale = Math.min(1, 768 / Math.min(fitted.width, fitted.height))
    const side = (length: number) => Math.max(1, Math.round(length * scale))
    const shown = { width: side(fitted.width), height: side(fitted.height) }
    return base + patches(shown, 512) * tile
  }
  return withPictures(atMost(most, picture), openaiAudio, mostPages)
}

/** OpenAI, "Realtime: managing costs" (as known on 2026-11-22): one token per 100 ms of audio. */
const openaiAudio = 10

interface PatchBudget {
  readonly high: number
  /** The budget for `detail: original`, where the model has it; infinite where pictures are not scaled then. */
  readonly original?: number
  /** The meaning of `detail: auto` or none. */
  readonly usual?: 'original'
}
/** For a picture of unknown size without a budget: the budget of earlier models at the same setting. */
const unboundedPatches = 10_000

/** OpenAI, "Images and vision", patches of 32 pixels: a picture beyond the budget is scaled down. */
function budgets({ high, original = high, usual }: PatchBudget, times: number): MediaRules {
  const budget = (detail: string | null) => {
    const isOriginal =
      detail === 'original' || (usual !== undefined && !/^(low|high)$/.test(detail ?? ''))
    return isOriginal ? original : high
  }
  const most = (detail: string | null) =>
    Math.ceil(Math.min(budget(detail), unboundedPatches) * times)
  const picture: Pictures['picture'] = (size, detail) =>
    Math.ceil(budgeted(size, budget(detail)) * times)
  const pictures = { picture, mostPicture: most, likelyPicture: most }
  return withPictures(pictures, openaiAudio, mostPages)
}

/** The patches of a scaled picture: a whole number on the side that decides, as in the example of OpenAI's page. */
function budgeted(size: PictureSize, budget: number): number {
  const side = 32
  if (patches(size, side) <= budget) return patches(size, side)
  const shrink = Math.sqrt((side * side * budget) / (size.width * size.height))
  const across = (size.width * shrink) / side
  const down = (size.height * shrink) / side
  // A picture narrower than a patch still has one across.
  const whole = Math.min(wholePart(across), wholePart(down), 1)
  return Math.min(budget, Math.ceil(round(across * whole)) * Math.ceil(round(down * whole)))
}

function wholePart(value: number): number {
  return Math.max(1, Math.floor(value)) / value
}

/** Removes rounding errors beyond the sixth decimal. */
function round(value: number): number {
  return Math.round(value * 1e6) / 1e6
}

/**
 * Anthropic, "Vision" (platform.claude.com, as known on 2026-11-22): one token per square of 28 pixels (slightly more
 * than width by height by 750), after scaling the picture to fit both a longest side and a maximum of tokens.
 */
function squares(longest: number, most: number, pages: number): MediaRules {
  const picture: Pictures['picture'] = (size) => patches(within(size, longest), 28)
  return withPictures(
    atMost(() => most, picture),
    mostAudioPerSecond,
    pages,
  )
}

/** Google, "Media resolution" (ai.google.dev, as known on 2026-11-22), models from Gemini 3 on: equal for any size. */
const resolutions: readonly (readonly [RegExp, number])[] = [
  [/^media_resolution_ultra_high$/i, 2_240],
  [/^media_resolution_medium$/i, 560],
  [/^media_resolution_low$/i, 280],
]

function geminiRules(): MediaRules {
  const most = (detail: string | null) =>
    resolutions.find(([word]) => word.test(detail ?? ''))?.[1] ?? 1_120
  return {
    ...atMost(most, (_, detail) => most(detail)),
    audioPerSecond: 32,
    // 70 per frame, or 280 at high resolution; 32 for its audio; the rest for its timestamp.
    videoPerSecond: (detail) => (/_high$/i.test(detail ?? '') ? 320 : 110),
    page: { most: 1_120, likely: 560 },
    mostPages,
  }
}

/**
 * Google, "Understand and count tokens" (as known on 2026-11-22), models before Gemini 3: 258 where both sides are at
 * most 384 pixels, else 258 per tile, whose side is two thirds of the shorter side, between 256 and 768.
 */
function gemini2Rules(): MediaRules {
  const each = 258
  const picture: Pictures['picture'] = (size) => {
    const { width, height } = size
    if (width <= 384 && height <= 384) return each
    const side = Math.min(768, Math.max(256, Math.floor(Math.min(width, height) / 1.5)))
    return patches(size, side) * each
  }
  return {
    // "Media resolution": 256 for the whole picture and about 2,048 for its tiles.
    ...atMost(() => 2_304, picture),
    audioPerSecond: 32,
    videoPerSecond: (detail) => (/_low$/i.test(detail ?? '') ? 100 : mostVideoPerSecond),
    page: { most: each, likely: each },
    mostPages,
  }
}

/** xAI, "Image understanding" (docs.x.ai, as known on 2026-11-22): 256 per 448-pixel tile, of six at most, plus 256. */
function grokRules(): MediaRules {
  const picture: Pictures['picture'] = (size) => (patches(size, 448) + 1) * 256
  return withPictures(
    atMost(() => 1_792, picture),
    mostAudioPerSecond,
    mostPages,
  )
}

/** Mistral, "Audio" (docs.mistral.ai, as known on 2026-11-22): Voxtral counts one token per 80 ms. */
const voxtralAudio = 12.5

/**
 * For families without published rules: one token per square of 28 pixels, as most open models count a picture, at most
 * 16,384 (Qwen, "Visual understanding": the most that any vendor publishes).
 */
const otherRules: MediaRules = (() => {
  const picture: Pictures['picture'] = (size) => patches(size, 28)
  const pictures = atMost(() => 16_384, picture)
  const usual = { ...pictures, likelyPicture: () => picture({ width: 1_024, height: 1_024 }, null) }
  return withPictures(usual, mostAudioPerSecond, mostPages)
})()

const small = { high: 1_536 }
const large = { high: 2_500, original: 10_000 }
const unbounded = { high: 2_500, original: Number.POSITIVE_INFINITY, usual: 'original' } as const
/** OpenAI publishes no multiplier for these; 1.2 is what users measured (OpenAI's forum, 2026-03). */
const measured = 1.2

/** The first pattern that matches a model's name decides. */
const families: readonly (readonly [RegExp, MediaRules])[] = [
  [/gpt-(audio|realtime)/, tiles(85, 170)],
  [/gpt-4o-mini/, tiles(2_833, 5_667)],
  [/gpt-4\.1-mini|gpt-5(\.\d)?-mini|gpt-5\.4-mini/, budgets(small, 1.62)],
  [/gpt-4\.1-nano|gpt-5(\.\d)?-nano/, budgets(small, 2.46)],
  [/o4-mini|codex-mini/, budgets(small, 1.72)],
  [/gpt-5\.[23]/, budgets(small, measured)],
  [/gpt-5\.4/, budgets(large, measured)],
  [/gpt-5\.5/, budgets({ ...large, usual: 'original' }, measured)],
  [/gpt-5\.[6-9]|gpt-[6-9]/, budgets(unbounded, measured)],
  [/gpt-5/, tiles(70, 140)],
  [/gpt-4|chatgpt-4o/, tiles(85, 170)],
  [/computer-use-preview/, tiles(65, 129)],
  [/\bo[13]\b/, tiles(75, 150)],
  [
    /claude-(3|opus-4([-@](\d{8}|[0156])|$)|(sonnet|haiku)-4(?!-[7-9]))/,
    squares(1_568, 1_568, 600),
  ],
  [/claude/, squares(2_576, 4_784, 600)],
  [/gemini-(1|2)/, gemini2Rules()],
  [/gemini/, geminiRules()],
  [/grok/, grokRules()],
  [/voxtral/, { ...otherRules, audioPerSecond: voxtralAudio }],
]

const known = new Map<string, MediaRules>()

/** The rules for a model, by the vendor's own name. */
export function mediaRulesOf(model: string): MediaRules {
  const kept = known.get(model)
  if (kept !== undefined) return kept
  const name = model.toLowerCase()
  const rules = families.find(([pattern]) => pattern.test(name))?.[1] ?? otherRules
  // The cache is bounded: a channel's wildcard lets clients invent names.
  if (known.size < 1_000) known.set(model, rules)
  return rules
}
