// Tests the sandbox's moderations: one result per text, flagged by its words; parts of one input are judged together.

import { expect, test } from 'bun:test'
import type { JsonValue } from '../../wire/ir.ts'
import { call } from './testing.ts'

async function moderate(input: JsonValue, model = 'sandbox/moderation') {
  const { status, text } = await call('openai-moderations', { model, input })
  return { status, body: JSON.parse(text) }
}

test('a text is flagged for a word of a category, and scored', async () => {
  const { status, body } = await moderate('I will kill you')
  expect(status).toBe(200)
  expect(body.id).toMatch(/^modr-sandbox-[0-9a-f]{16}$/)
  expect(body.results).toHaveLength(1)
  const [{ flagged, categories, category_scores: scores }] = body.results
  expect(flagged).toBe(true)
  expect(Object.entries(categories).filter(([, value]) => value)).toEqual([['violence', true]])
  expect(Object.keys(scores)).toEqual(Object.keys(categories))
  expect([scores.violence, scores.hate]).toEqual([0.99, 0.01])
})

test('words are whole ones: skill is no killing', async () => {
  const { body } = await moderate(['a skill', 'HATE!', ''])
  expect(body.results.map(({ flagged }: { flagged: boolean }) => flagged)).toEqual([
    false,
    true,
    false,
  ])
})

test('parts are judged as one', async () => {
  const { body } = await moderate([
    { type: 'text', text: 'what a gore' },
    { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
  ])
  expect(body.results).toHaveLength(1)
  expect(body.results[0].categories['violence/graphic']).toBe(true)
})

test('no input is refused, a fault is one', async () => {
  expect((await moderate([])).status).toBe(400)
  expect((await moderate('hello', 'sandbox/moderation+fault=429')).status).toBe(429)
})
