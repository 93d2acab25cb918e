// Tests that vendors' counts are corrected into the form that OpenAI's clients know.

import { expect, test } from 'bun:test'
import { readUsage } from '../wire/openai/usage.ts'
import { mistral } from './mistral.ts'

test("Voxtral's tokens of sound, which only the total has, are of the prompt", () => {
  const reported = {
    prompt_audio_seconds: 203,
    prompt_tokens: 4,
    completion_tokens: 635,
    total_tokens: 3_264,
  }
  const usage = readUsage(mistral.quirks.usage?.(reported))
  expect(usage).toMatchObject({ input: 4, audioInput: 2_625, output: 635 })
  const plain = { prompt_tokens: 4, completion_tokens: 5, total_tokens: 30 }
  expect(readUsage(mistral.quirks.usage?.(plain))).toMatchObject({ input: 4, output: 5 })
})
