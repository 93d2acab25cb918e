// Tests that the sandbox's pictures and films match what their containers declare, and are equal for equal texts.

import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { jpeg } from './jpeg.ts'
import { mp4 } from './mp4.ts'
import { png } from './png.ts'
import { sceneOf } from './scene.ts'
import { seeJpeg, seeMp4, seePng } from './testing.ts'

const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex').slice(0, 16)
const scene = sceneOf('a red cat on a mat')

describe('a PNG', () => {
  test('has the size asked for, and every pixel of the scene', () => {
    for (const [width, height] of [
      [1, 1],
      [256, 256],
      [1536, 1024],
      [1024, 1792],
    ] as const) {
      const { pixels, palette, ...seen } = seePng(png(scene, { width, height }))
      expect(seen).toEqual({ type: 'png', width, height, clear: false })
      expect(palette).toEqual(Uint8Array.from(scene.colours.flat()))
      const drawn = new Uint8Array(width * height)
      for (let y = 0; y < height; y += 1)
        scene.row((y + 0.5) / height, drawn.subarray(y * width, (y + 1) * width))
      expect(drawn).toEqual(pixels)
    }
  })

  test('shows the field and every shape, and is clear behind them where asked', () => {
    const { pixels, clear } = seePng(png(scene, { width: 64, height: 64, transparent: true }))
    expect([...new Set(pixels)].sort()).toEqual([0, 1, 2, 3, 4, 5])
    expect(clear).toBe(true)
  })

  test('depends on the text alone', () => {
    const of = (text: string) => png(sceneOf(text), { width: 32, height: 32 })
    expect(of('one')).toEqual(of('one'))
    expect(of('one')).not.toEqual(of('two'))
    expect(of('')).toEqual(of(''))
  })
})

test('a JPEG has the size asked for, and every byte that FFmpeg and libjpeg have read', () => {
  for (const [width, height] of [
    [1, 1],
    [1024, 1536],
    [511, 9],
  ] as const)
    expect(seeJpeg(jpeg(scene, width, height))).toEqual({ type: 'jpeg', width, height })
  expect(hashOf(jpeg(scene, 1024, 1536))).toBe('13d5600cf913bed4')
})

describe('a film', () => {
  test('has the size and the length asked for, each frame where its tables say', () => {
    for (const [width, height, seconds] of [
      [720, 1280, 4],
      [1280, 720, 8],
      [1024, 1792, 12],
      [1920, 1080, 1],
    ] as const)
      expect(seeMp4(mp4('a red cat', { width, height, seconds }))).toEqual({
        width,
        height,
        seconds,
        frames: 24 * seconds,
        keyFrames: seconds,
      })
  })

  test('is a few kilobytes a second', () => {
    expect(mp4('a cat', { width: 1280, height: 720, seconds: 12 }).length).toBeLessThan(300_000)
  })

  test('has every byte that FFmpeg has read, frame by frame, without a complaint', () => {
    const of = (width: number, height: number, seconds: number) =>
      hashOf(mp4('a red cat on a mat', { width, height, seconds }))
    expect([of(720, 1280, 4), of(1920, 1080, 12)]).toEqual(['4edd056550f6bb50', 'fb3f2db0e7a6dfa2'])
  })
})
