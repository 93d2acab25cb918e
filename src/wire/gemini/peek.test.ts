// Tests what is read from a request's bytes and address, and the field that is named if they are invalid.

import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../errors.ts'
import { peekGemini } from './peek.ts'

const encoder = new TextEncoder()
const address = { model: 'gemini-3-pro', stream: true }

function peek(body: unknown, at: { model?: string; stream?: boolean } = address) {
  return peekGemini(encoder.encode(typeof body === 'string' ? body : JSON.stringify(body)), at)
}

const contents = [{ role: 'user', parts: [{ text: 'a' }] }]

test('model and stream stand in the address, limits in the body', () => {
  const generationConfig = { maxOutputTokens: 7, candidateCount: 2 }
  expect(peek({ contents, generationConfig })).toMatchObject({
    model: 'gemini-3-pro',
    modelSpan: null,
    stream: true,
    maxOutputTokens: 7,
    choices: 2,
    imageParam: null,
  })
  expect(peek({ contents }, { model: 'a/b:c@d' })).toMatchObject({
    model: 'a/b:c@d',
    stream: false,
    maxOutputTokens: null,
    choices: 1,
  })
})

test('the other spelling is read too, and a number written as text', () => {
  const generation_config = { max_output_tokens: '9', candidate_count: 3 }
  expect(peek({ contents, generation_config })).toMatchObject({ maxOutputTokens: 9, choices: 3 })
})

test.each([
  [{ inlineData: { mimeType: 'image/png', data: '' } }],
  [{ inline_data: { data: '', mime_type: 'image/png' } }],
  [{ fileData: { fileUri: 'x', mimeType: 'image/webp' } }],
])('a picture is found: %j', (part) => {
  const turns = [...contents, { parts: [{ text: 'b' }, part] }]
  expect(peek({ contents: turns }).imageParam).toBe('contents[1].parts[1]')
})

test('a single turn and a single part need no list', () => {
  const parts = { inlineData: { mimeType: 'image/png', data: '' } }
  expect(peek({ contents: { parts } })).toMatchObject({ imageParam: 'contents[0].parts' })
  expect(peek({ contents: { parts } }).attachments).toHaveLength(1)
  expect(peek({ contents: { parts: { text: 'a' } } }).attachments).toBeUndefined()
})

test('no picture are sounds, files and texts', () => {
  const parts = [{ inlineData: { mimeType: 'audio/wav', data: '' } }, { text: '"image/' }]
  expect(peek({ contents: [{ parts }] }).imageParam).toBeNull()
})

describe('refused', () => {
  test.each([
    [{}, 'contents'],
    [{ contents: null }, 'contents'],
    [{ contents: 'a' }, 'contents'],
    [{ contents: {} }, 'contents'],
    [{ contents: { parts: 1 } }, 'contents[0].parts'],
    [{ contents: { parts: { text: 1 } } }, 'contents[0].parts.text'],
    [{ contents: [] }, 'contents'],
    [{ contents: ['a'] }, 'contents[0]'],
    [{ contents: [{ role: 1 }] }, 'contents[0].role'],
    [{ contents: [{ parts: 1 }] }, 'contents[0].parts'],
    [{ contents: [{ parts: [1] }] }, 'contents[0].parts[0]'],
    [{ contents: [{ parts: [{ text: 1 }] }] }, 'contents[0].parts[0].text'],
    [{ contents, generationConfig: [] }, 'generationConfig'],
    [{ contents, generationConfig: { maxOutputTokens: 0 } }, 'generationConfig.maxOutputTokens'],
    [{ contents, generationConfig: { candidateCount: 'x' } }, 'generationConfig.candidateCount'],
    [{ contents, generationConfig: { candidateCount: 129 } }, 'generationConfig.candidateCount'],
    ['[]', null],
    ['{"contents"', null],
  ])('%j', (body, param) => {
    expect(() => peek(body)).toThrow(GatewayError)
    try {
      peek(body)
    } catch (error) {
      expect((error as GatewayError).detail.param).toBe(param)
    }
  })

  test('an address without a model', () => {
    expect(() => peek({ contents }, {})).toThrow('model')
  })
})

const turns = JSON.stringify(contents)

test.each([
  [`{"contents":[{"parts":[]}],"generationConfig":{},"contents":${turns}}`, 'contents'],
  [
    `{"contents":${turns},"generationConfig":{"maxOutputTokens":1,"maxOutputTokens":4000}}`,
    'generationConfig.maxOutputTokens',
  ],
  [
    `{"contents":${turns},"generationConfig":{"maxOutputTokens":1,"max_output_tokens":4000}}`,
    'generationConfig.maxOutputTokens',
  ],
  [
    `{"contents":${turns},"generationConfig":{},"generation_config":{"maxOutputTokens":4000}}`,
    'generationConfig',
  ],
  [
    `{"contents":${turns},"generation_config":{"MaxOutputTokens":4000}}`,
    'generationConfig.MaxOutputTokens',
  ],
  [`{"contents":${turns},"GENERATIONCONFIG":{}}`, 'GENERATIONCONFIG'],
])('%s is refused by name', (text, param) => {
  let refused: unknown
  try {
    peek(text)
  } catch (error) {
    refused = error
  }
  expect(refused).toMatchObject({ code: 'invalid_request_error', detail: { param } })
})
