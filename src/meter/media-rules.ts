// What pictures, sound, films and documents in a prompt come to in tokens, by the rules that vendors publish.

import type { PictureSize } from '../wire/media/picture-size.ts'

/** How the models of one family count. Each function gives whole tokens, never less than what the vendor may bill. */
export interface MediaRules {
  picture(size: PictureSize, detail: string | null): number
  /** The most that a picture of any size comes to; where nobody says, see `otherRules`. */
  mostPicture(detail: string | null): number
  /** A picture of unknown size where nothing is reported: the most, if the vendor publishes it. */
  likelyPicture(detail: string | null): number
  readonly audioPerSecond: number
  videoPerSecond(detail: string | null): number
  readonly page: { readonly most: number; readonly likely: number }
  readonly mostPages: number
}

type Pictures = Pick<MediaRules, 'picture' | 'mostPicture' | 'likelyPicture'>

/**
 * Anthropic, "PDF support" (as known on 2026-11-22): the text of a page is 1,500 to 3,000 tokens, and each is looked at as a
 * picture besides. The only vendor to say what the text of a page comes to.
 */
const pageText = { most: 3_000, likely: 1_500 }
/** Gemini counts 32 tokens a second of sound ("Understand and count tokens", as known on 2026-11-22): the most anybody does. */
const mostAudioPerSecond = 32
/** Gemini, "Video understanding" (as known on 2026-11-22): some 300 tokens a second, its sound included. */
const mostVideoPerSecond = 300
/** Gemini, "Document understanding" (as known on 2026-11-22): no document of more pages is taken; nobody takes more. */
const mostPages = 1_000

function atMost(most: (detail: string | null) => number, picture: Pictures['picture']): Pictures {
  return {
    picture: (size, detail) => Math.min(picture(size, detail), most(detail)),
    mostPicture: most,
    likelyPicture: most,
  }
}

/** Pages are text, and a picture each. */
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

/** Made smaller, in proportion, until its longer side is at most so long. */
function within({ width, height }: PictureSize, longest: number): PictureSize {
  const scale = Math.min(1, longest / Math.max(width, height))
  return { width: Math.max(1, width * scale), height: Math.max(1, height * scale) }
}

/** OpenAI, "Images and vision", tiles of 512 pixels (developers.openai.com, as known on 2026-11-22). */
function tiles(base: number, tile: number): MediaRules {
  // The longest sides are 2048 by 768: four tiles by two.
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

/** OpenAI, "Realtime: managing costs" (as known on 2026-11-22): a token for 100 ms of sound. */
const openaiAudio = 10

interface PatchBudget {
  readonly high: number
  /** Of `detail: original`, where the model has it; infinite where that keeps pictures as they are. */
  readonly original?: number
  /** What `auto`, or nothing, means. */
  readonly usual?: 'original'
}
/** Of a picture of unknown size without a budget: that of the models before, in the same setting. */
const unboundedPatches = 10_000

/** OpenAI, the same page, patches of 32 pixels: past the budget a picture is made smaller. */
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

/** The patches of a picture made to fit: whole ones on the side that decides, as the page's own example has it. */
function budgeted(size: PictureSize, budget: number): number {
  const side = 32
  if (patches(size, side) <= budget) return patches(size, side)
  const shrink = Math.sqrt((side * side * budget) / (size.width * size.height))
  const across = (size.width * shrink) / side
  const down = (size.height * shrink) / side
  // A picture narrower than a patch has one across all the same.
  const whole = Math.min(wholePart(across), wholePart(down), 1)
  return Math.min(budget, Math.ceil(round(across * whole)) * Math.ceil(round(down * whole)))
}

function wholePart(value: number): number {
  return Math.max(1, Math.floor(value)) / value
}

/** Without what a division leaves behind the sixth place. */
function round(value: number): number {
  return Math.round(value * 1e6) / 1e6
}

/**
 * Anthropic, "Vision" (platform.claude.com, as known on 2026-11-22): a token for each square of 28 pixels (width by height by
 * 750, and a little), of a picture made smaller to fit both a longest side and a most of tokens.
 */
function squares(longest: number, most: number, pages: number): MediaRules {
  const picture: Pictures['picture'] = (size) => patches(within(size, longest), 28)
  return withPictures(
    atMost(() => most, picture),
    mostAudioPerSecond,
    pages,
  )
}

/** Google, "Media resolution" (ai.google.dev, as known on 2026-11-22), models from Gemini 3 on: the same for any size. */
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
    // 70 for a frame, or 280 where it is looked at closely; its sound; and the time it stands at.
    videoPerSecond: (detail) => (/_high$/i.test(detail ?? '') ? 320 : 110),
    page: { most: 1_120, likely: 560 },
    mostPages,
  }
}

/**
 * Google, "Understand and count tokens" (as known on 2026-11-22), models before Gemini 3: 258 where both sides are at most 384
 * pixels, else 258 for each tile, whose side is two thirds of the shorter one, between 256 and 768.
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
    // "Media resolution": 256 for the whole and about 2,048 for what is cut out of it.
    ...atMost(() => 2_304, picture),
    audioPerSecond: 32,
    videoPerSecond: (detail) => (/_low$/i.test(detail ?? '') ? 100 : mostVideoPerSecond),
    page: { most: each, likely: each },
    mostPages,
  }
}

/** xAI, "Image understanding" (docs.x.ai, as known on 2026-11-22): 256 for each tile of 448 pixels and one more, of six at most. */
function grokRules(): MediaRules {
  const picture: Pictures['picture'] = (size) => (patches(size, 448) + 1) * 256
  return withPictures(
    atMost(() => 1_792, picture),
    mostAudioPerSecond,
    mostPages,
  )
}

/** Mistral, "Audio" (docs.mistral.ai, as known on 2026-11-22): Voxtral reads a token for 80 ms. */
const voxtralAudio = 12.5

/**
 * A model of a family without a published rule: a token for each square of 28 pixels, which is what most open models
 * make of a picture, at most 16,384 of them (Qwen, "Visual understanding": the most that any vendor publishes).
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
/** OpenAI publishes no multiplier for these; 1.2 is what its users measured (its forum, 2026-03). */
const measured = 1.2

/** The first that fits a model's name decides. */
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

/** By the vendor's own name of a model. */
export function mediaRulesOf(model: string): MediaRules {
  const kept = known.get(model)
  if (kept !== undefined) return kept
  const name = model.toLowerCase()
  const rules = families.find(([pattern]) => pattern.test(name))?.[1] ?? otherRules
  // Names come from the configuration, but wildcards let clients make some up.
  if (known.size < 1_000) known.set(model, rules)
  return rules
}
