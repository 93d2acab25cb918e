// Tests that faults in some of many streams do not affect the others.

import { expect, test } from 'bun:test'
import { expectCutStream, onStage } from '../support/scene.ts'
import {
  halfClose,
  hang,
  reset,
  type Script,
  send,
  sseHead,
  streamEnd,
  words,
} from '../support/upstream.ts'

/** As many as the runtime's fetch opens at once. */
const all = 240

test('240 streams at once, a third of them cut in three ways: the others are whole', async () => {
  await onStage({ alone: true, timeouts: { semanticIdleMs: 6_000 } }, async (scene) => {
    const { promise: together, resolve: go } = Promise.withResolvers<void>()
    const endings: Readonly<Record<string, Script>> = {
      'm-reset': [reset],
      'm-close': [halfClose],
      'm-hang': [hang],
      'm-well': [send(words(' there')), send(streamEnd)],
    }
    for (const [model, ending] of Object.entries(endings)) {
      scene.first.on(model, [send(sseHead), send(words('Hello')), () => together, ...ending])
    }
    const names = ['m-reset', 'm-close', 'm-hang', ...Array<string>(6).fill('m-well')]
    const modelOf = (n: number) => names[n % names.length] ?? ''
    const asked = Array.from({ length: all }, (_, n) => scene.stream({ model: modelOf(n) }))
    await scene.first.arrived(all)
    expect(scene.first.open).toBe(all)
    go()
    const seen = await Promise.all(asked)
    for (const [n, one] of seen.entries()) {
      if (modelOf(n) !== 'm-well') expectCutStream(one, 'Hello')
      else {
        expect(one.content).toBe('Hello there')
        expect(one.events.at(-1)).toBe('[DONE]')
      }
    }
  })
})
