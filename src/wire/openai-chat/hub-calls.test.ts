// Tests calls of vendors that name the function in every piece.

import { expect, test } from 'bun:test'
import { readAll } from '../../../test/replies.ts'
import { isLong } from '../../../test/support/long.ts'
import { delta, linearMs, shortestMs } from '../testing.ts'
import { chatHub } from './hub.ts'

const head = { id: 'c', model: 'm', createdAt: 1, wantsUsage: true }

/** A vendor's stream of one call without an id, in which every piece has the function's name. */
function namedInEach(pieces: readonly string[]): string[] {
  const chunks = pieces.map((piece) =>
    delta({ tool_calls: [{ index: 0, function: { name: 'f', arguments: piece } }] }),
  )
  return [...chunks, delta({}, 'tool_calls')].map((chunk) => JSON.stringify(chunk))
}

test('arguments whose every piece names the function are one call, read in a time that grows with them', () => {
  const text = JSON.stringify({ text: '"{}" '.repeat(isLong ? 100_000 : 1_000) })
  const frames = namedInEach(text.match(/.{1,8}/g) ?? [])
  const read = () => readAll(chatHub.reader({}), frames)
  const whole = chatHub.writeWhole(read(), head)
  const call = { type: 'function', function: { name: 'f', arguments: text } }
  expect(whole).toMatchObject({ choices: [{ message: { tool_calls: [call] } }] })
  if (isLong) expect(shortestMs(read)).toBeLessThan(4 * linearMs())
})
