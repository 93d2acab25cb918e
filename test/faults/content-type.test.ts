// Tests streams whose content type does not say that they are streams.

import { expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { expectFailover, onStage } from '../support/scene.ts'
import {
  chatReply,
  chunk,
  head,
  json,
  reply,
  type Script,
  send,
  streamEnd,
  words,
} from '../support/upstream.ts'

const types: readonly [name: string, fields: readonly string[]][] = [
  ['JSON', ['content-type: application/json']],
  ['text', ['content-type: text/plain; charset=utf-8']],
  ['bytes', ['content-type: application/octet-stream']],
  ['nothing', []],
]

function stream(fields: readonly string[], opening: string | null): Script {
  const first = opening === null ? [] : [chunk(opening)]
  const begin = Buffer.from(head(200, ...fields, 'transfer-encoding: chunked'))
  return [send(Buffer.concat([begin, ...first, words('Hello', ' there'), streamEnd]))]
}

for (const [name, fields] of types) {
  test(`a stream labelled as ${name} is read as the stream it is`, async () => {
    await onStage({ alone: true }, async (scene) => {
      for (const opening of [null, '\uFEFF', '\r\n: waiting\n\n']) {
        scene.first.on('m', stream(fields, opening))
        const seen = await scene.stream()
        expect([opening, seen.content, seen.events.at(-1)]).toEqual([
          opening,
          'Hello there',
          '[DONE]',
        ])
        expect(await scene.gateway.row(seen.requestId)).toMatchObject({ usageSource: 'reported' })
      }
    })
  })
}

test('cut anywhere, its beginning is recognised', async () => {
  await onStage({ alone: true }, async (scene) => {
    const bytes = Buffer.from(': waiting\n\n')
    const pieces = Array.from(bytes, (_, at) => chunk(bytes.subarray(at, at + 1)))
    const begin = Buffer.from(head(200, 'transfer-encoding: chunked'))
    const steps = [begin, ...pieces, words('Hello'), streamEnd]
    scene.first.on(
      'm',
      steps.map((step) => send(step)),
    )
    expect((await scene.stream()).content).toBe('Hello')
  })
})

test('what is no stream is judged as before: a whole reply is shown as one, a page is a failure', async () => {
  await onStage({ alone: true }, async (scene) => {
    scene.first.on('m', [json(200, chatReply('Hello'))])
    expect((await scene.stream()).content).toBe('Hello')
  })
  for (const body of ['<html>Welcome</html>', 'data', '', ' ']) {
    await onStage({}, async (scene) => {
      scene.first.on('m', [reply(200, body, 'content-type: text/plain')])
      await expectFailover(scene, await scene.stream(), 'Hello there')
    })
  }
})
