// Tests that the hold for a reply follows what its channels do with the client's limit.

import { expect, test } from 'bun:test'
import type { Candidate } from '../router/route.ts'
import { modelPeek } from '../wire/request.ts'
import { boundedBy } from './reply-bound.ts'

type Said = Pick<Candidate, 'parameters' | 'dialect' | 'instead'>

function bound(asked: number | null, ...said: readonly Said[]) {
  const peek = { ...modelPeek('m', new Uint8Array(0)), maxOutputTokens: asked }
  const candidates = said.map((each) => ({
    channelId: 'c',
    model: 'm',
    identity: true,
    priority: 0,
    weight: 1,
    ...each,
  }))
  const { maxOutputTokens, leastOutputTokens } = boundedBy(candidates, peek, { operation: 'chat' })
  return [maxOutputTokens, leastOutputTokens]
}

const chat = (parameters?: Candidate['parameters']): Said => ({
  dialect: 'openai-chat',
  ...(parameters && { parameters }),
})

test('a limit that is set counts in place of the client’s, a default where there is none', () => {
  expect(bound(5, chat())).toEqual([5, undefined])
  expect(bound(5, chat({ set: { max_tokens: 9 } }))).toEqual([9, undefined])
  expect(bound(5, chat({ defaults: { max_tokens: 9 } }))).toEqual([5, undefined])
  expect(bound(null, chat({ defaults: { max_tokens: 9 } }))).toEqual([9, undefined])
  expect(bound(5, chat({ set: { temperature: 0 } }))).toEqual([5, undefined])
})

test('a limit smaller than Responses take is held for as it is raised', () => {
  expect(bound(5, chat(), { dialect: 'openai-responses' })).toEqual([5, 16])
  expect(bound(16, { dialect: 'openai-responses' })).toEqual([16, undefined])
})

test('the longest of several counts, and no limit is the longest', () => {
  expect(bound(5, chat(), chat({ set: { max_tokens: 9 } }))).toEqual([9, undefined])
  expect(bound(5, chat(), chat({ remove: ['max_tokens'] }))).toEqual([null, 5])
})

test('a channel that may be asked in two formats is bounded by the one that reads no limit', () => {
  const both = chat({ set: { max_tokens: 9 } })
  expect(bound(5, { ...both, instead: 'openai-responses' })).toEqual([null, 9])
})

test('a limit under a name that its format does not read bounds nothing', () => {
  const set = { max_tokens: 9 }
  expect(bound(50, { dialect: 'openai-responses', parameters: { set } })).toEqual([null, 50])
  expect(bound(50, { dialect: 'gemini', parameters: { set } })).toEqual([null, 50])
  const own = { 'generationConfig.maxOutputTokens': 9 }
  expect(bound(50, { dialect: 'gemini', parameters: { set: own } })).toEqual([9, undefined])
})
