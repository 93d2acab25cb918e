// Sizes and lengths of the known video models, from the vendors' pages; the first of each is the default.

interface VideoShape {
  /** `WIDTHxHEIGHT`; null: any. */
  readonly sizes: readonly string[] | null
  /** Whole seconds; null: any. */
  readonly seconds: readonly number[] | null
  /** The default length in seconds. */
  readonly usualSeconds: number
}

const hd = ['720x1280', '1280x720']
const wideFirst = ['1280x720', '720x1280']
const grokSizes = ['1280x720', '720x1280', '720x720', '854x480', '480x854', '480x480']
const fullHd = ['1080x1920', '1920x1080']

function shape(sizes: readonly string[], seconds: readonly number[], usual = seconds[0] ?? 4) {
  return { sizes, seconds, usualSeconds: usual }
}

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at)

/** By the beginning of a name; of two that match, the more specific comes first. */
const shapes: readonly (readonly [beginning: string, shape: VideoShape])[] = [
  ['sora-2-pro', shape([...hd, '1024x1792', '1792x1024', ...fullHd], [4, 8, 12])],
  ['sora-2', shape(hd, [4, 8, 12])],
  ['veo-2', shape(wideFirst, [8, 5, 6, 7])],
  ['veo-3.1', shape([...wideFirst, '1920x1080', '1080x1920', '3840x2160', '2160x3840'], [8, 6, 4])],
  ['veo-', shape([...wideFirst, '1920x1080', '1080x1920'], [8, 6, 4])],
  ['grok-imagine-video-1.5', shape([...grokSizes, '1920x1080', '1080x1920'], range(1, 15), 6)],
  ['grok-imagine-video', shape(grokSizes, range(1, 15), 6)],
  ['kling', shape([...hd, '720x720', ...fullHd, '1080x1080'], [5, 10])],
  ['MiniMax-Hailuo', shape(['1366x768', '1920x1080'], [6, 10])],
  ['wan', shape([...wideFirst, '720x720', '1920x1080', '1080x1920', '1080x1080'], range(2, 15), 5)],
  ['sandbox/video', shape([...hd, '180x320', '320x180'], range(1, 20), 4)],
]

const anything: VideoShape = { sizes: null, seconds: null, usualSeconds: 4 }

/** The default size of models that make any. */
export const usualSize = '720x1280'

/**
 * The shape of a model by its name, else by the vendor's name for it. The last part of a path counts: `google/veo-3` is
 * Veo. A name with `portrait` or `landscape` allows only such sizes.
 */
export function videoShape(model: string, vendorsName: string | null = null): VideoShape {
  const base = knownShape(model) ?? knownShape(vendorsName ?? '') ?? anything
  const fits = heldIn(model) ?? heldIn(vendorsName ?? '')
  const sizes = (base.sizes ?? hd).filter((size) => fits?.(size) ?? false)
  return sizes.length === 0 ? base : { ...base, sizes }
}

function heldIn(name: string): ((size: string) => boolean) | null {
  if (/portrait/i.test(name)) return isUpright
  return /landscape/i.test(name) ? isWide : null
}

function knownShape(model: string): VideoShape | null {
  const name = model.slice(model.lastIndexOf('/') + 1)
  const found = shapes.find(
    ([beginning]) => name.startsWith(beginning) || model.startsWith(beginning),
  )
  return found?.[1] ?? null
}

function isUpright(size: string): boolean {
  const [width = 0, height = 0] = size.split('x').map(Number)
  return height > width
}

function isWide(size: string): boolean {
  const [width = 0, height = 0] = size.split('x').map(Number)
  return width > height
}
