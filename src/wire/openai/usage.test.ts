// Tests that usage is read into kinds that do not overlap, whichever counts a vendor includes in others, and written
// back the same.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readAll } from '../../../test/replies.ts'
import type { JsonObject, Usage } from '../ir.ts'
import { chatHub } from '../openai-chat/hub.ts'
import { delta, relayFrames } from '../testing.ts'
import { readUsage, shownUsage, writeUsage } from './usage.ts'

const sum = (usage: Usage): number => Object.values(usage).reduce((a, b) => a + b, 0)

const tokens = fc.oneof(fc.nat(50), fc.nat(300_000), fc.constant(0))
const usage: fc.Arbitrary<Usage> = fc
  .record(
    {
      input: tokens,
      cachedInput: tokens,
      cacheWrite: tokens,
      output: tokens,
      reasoning: tokens,
      cacheWrite1h: fc.integer({ min: 1, max: 9_000 }),
      audioInput: fc.integer({ min: 1, max: 9_000 }),
      audioOutput: fc.integer({ min: 1, max: 9_000 }),
      imageInput: fc.integer({ min: 1, max: 9_000 }),
      imageOutput: fc.integer({ min: 1, max: 9_000 }),
    },
    { requiredKeys: ['input', 'cachedInput', 'cacheWrite', 'output', 'reasoning'] },
  )
  .filter((one) => sum(one) > 0)

/** Any value that a vendor might send as a count; mostly counts, since a report with an impossible one is not used. */
const junk = fc.oneof(
  { weight: 60, arbitrary: fc.nat(1000) },
  fc.double(),
  fc.bigInt({ min: 0n, max: 1n << 70n }).map(String),
  fc.constantFrom(null, -5, '12', '', true, 1e300, [], {}),
)
const details = fc.dictionary(
  fc.constantFrom(
    'cached_tokens',
    'cache_write_tokens',
    'cache_creation_input_tokens',
    'audio_tokens',
    'image_tokens',
    'reasoning_tokens',
  ),
  junk,
)
const reported = fc.record(
  {
    prompt_tokens: junk,
    completion_tokens: junk,
    total_tokens: junk,
    input_tokens: junk,
    output_tokens: junk,
    cached_tokens: junk,
    cache_read_input_tokens: junk,
    cache_creation_input_tokens: junk,
    cache_creation: fc.record({ ephemeral_5m_input_tokens: junk, ephemeral_1h_input_tokens: junk }),
    prompt_tokens_details: details,
    completion_tokens_details: details,
    reasoning_tokens: junk,
  },
  { requiredKeys: [] },
) as fc.Arbitrary<JsonObject>

describe('kinds', () => {
  test('what is written is read back the same', () => {
    fc.assert(fc.property(usage, (one) => expect(readUsage(writeUsage(one))).toEqual(one)))
  })

  test('add up to what the client is shown, whatever the vendor says', () => {
    fc.assert(
      fc.property(reported, (raw) => {
        const read = readUsage(raw)
        if (read === null) return
        const shown = shownUsage(raw)
        expect(sum(read)).toBe(Number(shown?.prompt_tokens) + Number(shown?.completion_tokens))
        for (const count of Object.values(read)) {
          expect(Number.isInteger(count) && count >= 0).toBe(true)
        }
      }),
      { numRuns: 2_000 },
    )
  })

  test('an hour and five minutes in the cache are told apart, wherever they stand', () => {
    const split = { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 20 }
    const wanted = { input: 10, cachedInput: 40, cacheWrite: 30, cacheWrite1h: 20 }
    const inside = { cached_tokens: 40, cache_creation: split }
    expect(
      readUsage({ prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: inside }),
    ).toMatchObject(wanted)
    const anthropic = {
      input_tokens: 10,
      output_tokens: 5,
      cache_read_input_tokens: 40,
      cache_creation_input_tokens: 50,
      cache_creation: split,
    }
    expect(readUsage(anthropic)).toMatchObject(wanted)
  })

  test('of a reply alone are none: the prompt is not known to be empty', () => {
    expect(readUsage({ completion_tokens: 5 })).toBeNull()
    expect(readUsage({ completion_tokens: 5, total_tokens: 15 })).toMatchObject({ input: 10 })
    expect(readUsage({ prompt_tokens: 5 })).toMatchObject({ input: 5, output: 0 })
  })

  test.each([
    [{ prompt_tokens: 10 }, { completion_tokens: 5 }, { input: 10, output: 5 }],
    [{ completion_tokens: 5 }, { prompt_tokens: 10 }, { input: 10, output: 5 }],
    [{ input_tokens: 10, output_tokens: 1 }, { output_tokens: 5 }, { input: 10, output: 5 }],
    [
      { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 },
      { completion_tokens: 5 },
      { input: 10, output: 5 },
    ],
    [
      { prompt_tokens: 10, completion_tokens: 1 },
      { prompt_tokens: 12, completion_tokens: 5 },
      { input: 12, output: 5 },
    ],
  ])('of a stream that reports %j, then %j, have both sides', (before, after, expected) => {
    const chunks = [before, after].map((usage) => delta({ content: 'a' }, null, { usage }))
    const { watcher, text } = relayFrames([...chunks, delta({}, 'stop')], true)
    expect(watcher.usage).toMatchObject(expected)
    expect(text).toContain(`"prompt_tokens":${expected.input},"completion_tokens":5`)
    const reader = chatHub.reader({})
    const events = readAll(
      reader,
      [...chunks, delta({}, 'stop')].map((each) => JSON.stringify(each)),
    )
    const reports = events.filter(({ type }) => type === 'usage')
    expect(reports.at(-1)).toMatchObject({ usage: expected })
  })

  test('images a model drew are told from its words', () => {
    const completion_tokens_details = { image_tokens: 1_290 }
    expect(
      readUsage({ prompt_tokens: 8, completion_tokens: 1_300, completion_tokens_details }),
    ).toMatchObject({ output: 10, imageOutput: 1_290 })
  })
})

describe('B14: no token is counted in two kinds', () => {
  const openai = { prompt_tokens: 1_000, completion_tokens: 10, total_tokens: 1_010 }
  const cases: [string, JsonObject, Partial<Usage>][] = [
    [
      'a prompt that includes the cache',
      { ...openai, prompt_tokens_details: { cached_tokens: 900, cache_write_tokens: 60 } },
      { input: 40, cachedInput: 900, cacheWrite: 60 },
    ],
    [
      'a prompt that excludes it, by its spelling',
      {
        input_tokens: 40,
        output_tokens: 10,
        cache_read_input_tokens: 30,
        cache_creation_input_tokens: 900,
      },
      { input: 40, cachedInput: 30, cacheWrite: 900 },
    ],
    [
      'a prompt that excludes it, by its total',
      {
        prompt_tokens: 1_000,
        completion_tokens: 10,
        total_tokens: 1_910,
        prompt_tokens_details: { cached_tokens: 900 },
      },
      { input: 1_000, cachedInput: 900 },
    ],
    [
      'a prompt that excludes it, for it is shorter',
      { prompt_tokens: 40, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 900 } },
      { input: 40, cachedInput: 900 },
    ],
    [
      'more read from the cache than the total has room for',
      {
        prompt_tokens: 7,
        completion_tokens: 1,
        total_tokens: 8,
        prompt_tokens_details: { cached_tokens: 163 },
      },
      { input: 0, cachedInput: 7, output: 1 },
    ],
    [
      'more written than there is',
      { ...openai, prompt_tokens_details: { cached_tokens: 900, cache_write_tokens: 600 } },
      { input: 0, cachedInput: 900, cacheWrite: 100 },
    ],
    [
      'reasoning within the completion, and as much of it as was read from the cache',
      {
        prompt_tokens: 100,
        completion_tokens: 20,
        total_tokens: 170,
        prompt_tokens_details: { cached_tokens: 50 },
        completion_tokens_details: { reasoning_tokens: 50 },
      },
      { input: 50, cachedInput: 50, output: 20, reasoning: 50 },
    ],
  ]
  test.each(cases)('%s', (_, raw, wanted) => {
    expect(readUsage(raw)).toMatchObject(wanted)
  })

  test('one who is charged for more than the vendor shows is shown it', () => {
    const raw = {
      prompt_tokens: 40,
      completion_tokens: 10,
      prompt_tokens_details: { cached_tokens: 900 },
    }
    expect(shownUsage(raw)).toMatchObject({ prompt_tokens: 940, total_tokens: 950 })
    expect(shownUsage({ ...openai, own: 1 })).toEqual({ ...openai, own: 1 })
  })
})

describe('B10: a zero is the vendor’s word', () => {
  test('on one side it stands', () => {
    expect(readUsage({ prompt_tokens: 12, completion_tokens: 0 })).toMatchObject({
      input: 12,
      output: 0,
    })
    expect(readUsage({ prompt_tokens: 0, completion_tokens: 7 })).toMatchObject({
      input: 0,
      output: 7,
    })
  })

  test('on both it is a placeholder, and the gateway counts', () => {
    expect(readUsage({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })).toBeNull()
  })
})
