// Tests that arguments in pieces are joined, whatever their paths.

import { expect, test } from 'bun:test'
import { PartialArguments, stepsOf } from './partial-args.ts'

test.each([
  ['$.a', ['a']],
  ['$.a.b[0].c', ['a', 'b', 0, 'c']],
  ["$['a b'].c", ['a b', 'c']],
  ['$["x.y"][2]', ['x.y', 2]],
  ["$['it\\'s']", ["it's"]],
  ['$', []],
])('%s', (path, steps) => {
  expect(stepsOf(path)).toEqual(steps)
})

test.each(['a.b', '$a', '$..a', '$.__proto__.x', '$[x]'])('%s is no path to write to', (path) => {
  expect(stepsOf(path)).toBeNull()
})

test('texts in several parts, numbers, truth, nothing, lists and empty ones', () => {
  const args = new PartialArguments()
  args.take([{ jsonPath: '$.s', stringValue: 'a"', willContinue: true }])
  args.take([{ jsonPath: '$.s', stringValue: '\n你' }])
  args.take([
    { jsonPath: '$.n', numberValue: 0 },
    { jsonPath: '$.t', boolValue: false },
    { jsonPath: '$.z', nullValue: 'NULL_VALUE' },
    { jsonPath: '$.list[0].x', stringValue: 'p' },
    { jsonPath: '$.list[1].x', stringValue: 'q' },
    { jsonPath: '$.list[]' },
    { jsonPath: '$.none[]' },
    { jsonPath: '$.empty' },
  ])
  expect(args.value).toEqual({
    s: 'a"\n你',
    n: 0,
    t: false,
    z: null,
    list: [{ x: 'p' }, { x: 'q' }],
    none: [],
    empty: {},
  })
})

test('names that every object inherits are names like others', () => {
  const args = new PartialArguments()
  args.take([
    { jsonPath: '$.constructor', numberValue: 5 },
    { jsonPath: '$.toString', boolValue: true },
  ])
  expect(args.value).toEqual({ constructor: 5, toString: true } as never)
})
