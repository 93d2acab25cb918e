// A tune as a WAV file, and as the bare samples in it.

import { sampleRate, type Tune } from './tune.ts'

const headBytes = 44

/** A second at a time, so that a long one is never in memory whole. */
export function* pcm(tune: Tune): Generator<Uint8Array> {
  for (let from = 0; from < tune.samples; from += sampleRate)
    yield tune.pcm(from, Math.min(tune.samples, from + sampleRate))
}

/** 16 bits, one channel, 24 kHz. */
export function* wav(tune: Tune): Generator<Uint8Array> {
  const dataBytes = tune.samples * 2
  const head = new Uint8Array(headBytes)
  const view = new DataView(head.buffer)
  const put = (at: number, text: string) => new TextEncoder().encodeInto(text, head.subarray(at))
  put(0, 'RIFF')
  view.setUint32(4, headBytes - 8 + dataBytes, true)
  put(8, 'WAVEfmt ')
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true)
  view.setUint16(22, 1, true)
  view.setUint32(24, sampleRate, true)
  view.setUint32(28, sampleRate * 2, true)
  view.setUint16(32, 2, true)
  view.setUint16(34, 16, true)
  put(36, 'data')
  view.setUint32(40, dataBytes, true)
  yield head
  yield* pcm(tune)
}
