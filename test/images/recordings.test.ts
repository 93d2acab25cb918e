// Tests replies with images that others recorded from OpenAI, if there are recordings.

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { dialects } from '../../src/wire/dialects.ts'
import { recordingsFolder } from '../recordings/found.ts'

const folder = recordingsFolder()
const { 'openai-images': generations, 'openai-image-edits': edits } = dialects
const peek = generations.client.peek(
  Buffer.from('{"model":"m","prompt":"x","n":2,"size":"auto","quality":"auto"}'),
)

describe.skipIf(folder === null)('recorded', () => {
  const bytesOf = (name: string) => readFileSync(join(folder ?? '', 'openai', name))

  test.each([
    ['image--openai-image.json', generations, { image: 2 }],
    ['image--openai-image-edit.json', edits, { 'image/1024x1024/high': 1 }],
  ])('%s', (name, dialect, units) => {
    const bytes = bytesOf(name)
    const whole = dialect.identity.whole(bytes, peek, {})
    expect(whole.fault).toBeNull()
    expect(whole.bytes).toBe(bytes)
    expect(whole.units).toEqual(units)
    const items = Object.values(units)[0]
    expect(dialect.identity.tail(bytes.subarray(-400), {}, peek, items).units).toEqual(units)
  })

  test('a GPT image model refuses response_format', () => {
    const body = bytesOf('image--gpt-image-response-format-error.json').toString()
    expect(generations.vendor.fault(400, () => null, body)).toMatchObject({
      kind: 'rejected',
      param: 'response_format',
      code: 'unknown_parameter',
    })
  })
})
