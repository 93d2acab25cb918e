// Tests reading a text completion request from its bytes.

import { describe, expect, test } from 'bun:test'
import { isLong } from '../../../test/support/long.ts'
import { GatewayError } from '../../errors.ts'
import { bytesOf, linearMs, shortestMs, textOf } from '../testing.ts'
import { peekCompletions } from './peek.ts'

function peek(members: object) {
  return peekCompletions(bytesOf(JSON.stringify({ model: 'm', prompt: 'p', ...members })))
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

describe('prompt', () => {
  test.each<[unknown, boolean]>([
    ['', false],
    ['a', false],
    [['a', ''], false],
    [[1, 2], true],
    [[[1], [2, 3]], true],
  ])('%j is accepted', (prompt, tokenInput) => {
    expect(peek({ prompt }).tokenInput).toBe(tokenInput)
  })

  test.each<[unknown, string]>([
    [undefined, 'prompt'],
    [null, 'prompt'],
    [1, 'prompt'],
    [{}, 'prompt'],
    [[], 'prompt'],
    [[true], 'prompt[0]'],
    [['a', 1], 'prompt[1]'],
    [[1, 'a'], 'prompt[1]'],
    [[1, -1], 'prompt[1]'],
    [[1, 1.5], 'prompt[1]'],
    [[[1], []], 'prompt[1]'],
    [[[1], [2, 'a']], 'prompt[1][1]'],
    [[[1], 'a'], 'prompt[1]'],
  ])('%j is refused at %s', (prompt, name) => {
    expect(param({ prompt })).toBe(name)
  })
})

test.each<[string, unknown[], unknown[]]>([
  ['suffix', ['x'], [1]],
  ['logprobs', [0, 5], [true, 6, -1]],
  ['best_of', [0, 1, 20], [-1, 21, 1.5]],
  ['echo', [true], ['x']],
  ['n', [1], [0, 129]],
  ['max_tokens', [0, 16], [-1]],
  ['temperature', [0, 2], [3]],
  ['top_p', [0.5], [2]],
  ['presence_penalty', [2], [3]],
  ['frequency_penalty', [-2], [-3]],
  ['stop', ['a', ['a']], [[1]]],
  ['seed', [1], ['x']],
  ['user', ['u'], [1]],
  ['stream', [true], ['x']],
  ['logit_bias', [{}], [[]]],
])('%s', (name, good, bad) => {
  for (const value of [...good, null]) peek({ [name]: value })
  for (const value of bad) expect([value, param({ [name]: value })]).toEqual([value, name])
})

test('best_of is at least n, and no stream', () => {
  expect(param({ n: 3, best_of: 2 })).toBe('best_of')
  expect(param({ best_of: 2, stream: true })).toBe('best_of')
  // OpenAI's own tests send it.
  expect(peek({ best_of: 0, n: 1, stream: true }).choices).toBe(1)
  expect(peek({ n: 2, best_of: 2 }).choices).toBe(2)
  expect(peek({ best_of: 1, stream: true }).stream).toBe(true)
})

test('every reply that is made counts: those chosen from, for each of the prompts', () => {
  const made = (members: Readonly<Record<string, unknown>>) => peek(members).choices
  expect(made({})).toBe(1)
  expect(made({ prompt: ['a', 'b', 'c'], n: 2 })).toBe(6)
  expect(made({ prompt: ['a'], n: 2, best_of: 5 })).toBe(5)
  expect(made({ prompt: [1, 2, 3] })).toBe(1)
  expect(made({ prompt: [[1, 2], [3]], n: 2 })).toBe(4)
  expect(made({ prompt: 'a' })).toBe(1)
})

test('what is found', () => {
  const found = peek({ stream: true, stream_options: { include_usage: true }, max_tokens: 3 })
  expect(found).toMatchObject({ model: 'm', stream: true, wantsUsage: true, maxOutputTokens: 3 })
  expect(textOf(found.body.subarray(found.modelSpan?.start, found.modelSpan?.end))).toBe('"m"')
  expect(param({ stream_options: {} })).toBe('stream_options')
  expect(param({ model: undefined })).toBe('model')
})

test('a million tokens are judged quickly', () => {
  const body = bytesOf(`{"model":"m","prompt":[${'50256,'.repeat(1_000_000)}0]}`)
  expect(peekCompletions(body).tokenInput).toBe(true)
  if (isLong) expect(shortestMs(() => peekCompletions(body))).toBeLessThan(linearMs())
})
