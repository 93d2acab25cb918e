// Compares Markdown read piece by piece, as it streams in, with the same text read at once.

import { expect, test } from 'bun:test'
import { nothingRead, readOn } from './blocks.ts'

const texts = [
  '# Title\n\nA paragraph\nof two lines.\n\n- one\n- two\n\n  more of two\n\n- three\n\nAfter it.',
  'Before\n\n```js\nlet a = 1\n\n# no title\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\nEnd',
  '> quoted\n> more\n\n1. one\n2. two\n\nSetext\n======\n\n<b>html</b>\n\n---\n\n**bold** and `code`\n',
]

const rawOf = (text: string) => readOn(nothingRead, text).blocks.map(({ raw }) => raw.trimEnd())

test.each(texts)('each letter more leads to what the whole is', (text) => {
  let read = nothingRead
  for (let length = 0; length <= text.length; length += 1) {
    read = readOn(read, text.slice(0, length))
  }
  expect(read.blocks.map(({ raw }) => raw.trimEnd())).toEqual(rawOf(text))
})

test('blocks that are done stay the same objects, and another text is read anew', () => {
  const before = readOn(nothingRead, 'One\n\nTwo\n\nThr')
  const after = readOn(before, 'One\n\nTwo\n\nThree')
  expect(after.blocks[0]).toBe(before.blocks[0])
  expect(after.blocks[1]).toBe(before.blocks[1])
  expect(after.blocks[2]?.raw).toBe('Three')
  expect(readOn(after, 'Other').blocks.map(({ raw }) => raw)).toEqual(['Other'])
})
