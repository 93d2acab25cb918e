// Tests reading an embeddings request from its bytes.

import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../errors.ts'
import { bytesOf, textOf } from '../testing.ts'
import { peekEmbeddings } from './peek.ts'

function peek(members: object) {
  return peekEmbeddings(bytesOf(JSON.stringify({ model: 'm', input: 'p', ...members })))
}

function param(members: object): string | null | undefined {
  try {
    peek(members)
  } catch (error) {
    if (error instanceof GatewayError) return error.detail.param
    throw error
  }
  throw new Error('it was accepted')
}

describe('input', () => {
  test.each<[unknown, boolean]>([
    ['a', false],
    [' ', false],
    [['a'], false],
    [Array(2048).fill('a'), false],
    [[0, 1], true],
    [Array(2048).fill(1), true],
    [[[1], [2, 3]], true],
  ])('%.40j is accepted', (input, tokenInput) => {
    expect(peek({ input }).tokenInput).toBe(tokenInput)
  })

  test.each<[unknown, string]>([
    [undefined, 'input'],
    [null, 'input'],
    ['', 'input'],
    [[], 'input'],
    [{}, 'input'],
    [true, 'input'],
    [['a', '', 'b'], 'input[1]'],
    [['a', 'b', 'c', 1], 'input[3]'],
    [[null], 'input[0]'],
    [[1, '2'], 'input[1]'],
    [[1.5], 'input[0]'],
    [[[1], []], 'input[1]'],
    [[[1], ['a']], 'input[1][0]'],
    [Array(2049).fill('a'), 'input'],
    [Array(2049).fill(1), 'input'],
    [Array(2049).fill([1]), 'input'],
    [[Array(2049).fill(1)], 'input[0]'],
  ])('%.40j is refused at %s', (input, name) => {
    expect(param({ input })).toBe(name)
  })
})

test.each<[string, unknown[], unknown[]]>([
  ['encoding_format', ['float', 'base64'], ['int8', 1, '']],
  ['dimensions', [1, 1024], [0, 1.5, '8']],
  ['user', ['u'], [1]],
])('%s', (name, good, bad) => {
  for (const value of [...good, null]) peek({ [name]: value })
  for (const value of bad) expect([value, param({ [name]: value })]).toEqual([value, name])
})

test('what is found', () => {
  expect(peek({}).encodingFormat).toBe('float')
  expect(peek({ encoding_format: 'base64' }).encodingFormat).toBe('base64')
  const found = peek({ unknown: 1 })
  expect(found).toMatchObject({
    stream: false,
    choices: 1,
    maxOutputTokens: null,
    wantsUsage: false,
  })
  expect(found.keys).toEqual(['model', 'input', 'unknown'])
  expect(textOf(found.body.subarray(found.modelSpan?.start, found.modelSpan?.end))).toBe('"m"')
  expect(param({ model: '' })).toBe('model')
})
