// Tests what clients get of responses in place of the vendor's words, and which parts are kept.

import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../ir.ts'
import { join, splice } from '../json/splice.ts'
import { vendorEdits } from './kept.ts'
import { peekResponses } from './peek.ts'
import { idAtStart, showFrames, showWhole } from './shown.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const includes = (bytes: Uint8Array, text: Uint8Array) =>
  decoder.decode(bytes).includes(decoder.decode(text))

const corrected = { store: true, previous_response_id: 'resp_0' }
const correction = () => corrected

function frame(type: string, fields: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
}

describe('frames', () => {
  const response = { id: 'resp_1', store: false, previous_response_id: null, output: [] }
  const delta = frame('response.output_text.delta', { delta: 'says "response" \n "response":{}' })

  test('without a response stay as they are', () => {
    const bytes = encoder.encode(`: keep-alive\n\n${delta}`)
    const shown = showFrames(bytes, correction, includes)
    expect(shown.bytes).toBe(bytes)
    expect(shown.response).toBeNull()
  })

  test('with one are corrected in their place, and the last one is found', () => {
    const begun = frame('response.created', { sequence_number: 0, response })
    const ended = frame('response.completed', { sequence_number: 2, response })
    const shown = showFrames(encoder.encode(begun + delta + ended), correction, includes)
    const right = { ...response, ...corrected }
    expect(decoder.decode(shown.bytes)).toBe(
      frame('response.created', { sequence_number: 0, response: right }) +
        delta +
        frame('response.completed', { sequence_number: 2, response: right }),
    )
    expect(shown.response).toEqual(right)
  })

  test.each(['response.incomplete', 'response.failed'])('%s ends a response too', (type) => {
    const shown = showFrames(encoder.encode(frame(type, { response })), correction, includes)
    expect(shown.response?.['id']).toBe('resp_1')
  })

  test('what is right already is not written anew', () => {
    const right = frame('response.completed', { response: { ...response, ...corrected } })
    const odd = right.replace('"id"', ' "id"')
    const shown = showFrames(encoder.encode(odd), correction, includes)
    expect(decoder.decode(shown.bytes)).toBe(odd)
  })

  test('what cannot be read is passed on', () => {
    const broken = 'event: response.completed\ndata: {"response": {\n\n'
    const shown = showFrames(encoder.encode(broken), correction, includes)
    expect([decoder.decode(shown.bytes), shown.response]).toEqual([broken, null])
  })
})

test('a whole reply is corrected; what is no JSON is not', () => {
  const shown = showWhole(encoder.encode('{"id":"resp_1","store":false}'), correction)
  expect(JSON.parse(decoder.decode(shown.bytes))).toEqual({ id: 'resp_1', ...corrected })
  expect(showWhole(encoder.encode('nothing'), correction).response).toBeNull()
})

test('the id at the beginning of a reply that is cut off', () => {
  expect(idAtStart(encoder.encode('{ "id" : "resp_1", "object": "resp'))).toBe('resp_1')
  expect(idAtStart(encoder.encode('{"object":"response"'))).toBeNull()
})

describe('what a vendor is sent', () => {
  const sentOf = (body: string, encrypted = true) => {
    const peek = peekResponses(encoder.encode(body))
    return decoder.decode(join(splice(peek.body, vendorEdits(peek, encrypted))))
  }
  test('is added behind the rest', () => {
    expect(sentOf('{ "model":"m", "input":"hi" }')).toBe(
      '{ "model":"m", "input":"hi" ,"store":false,"include":["reasoning.encrypted_content"]}',
    )
    expect(sentOf('{"model":"m","input":"hi"}', false)).toBe(
      '{"model":"m","input":"hi","store":false}',
    )
  })
  test('takes the place of what the client said', () => {
    const body =
      '{"store":null,"model":"m","include":["a"],"background":true,"input":"hi","previous_response_id":"resp_1"}'
    expect(sentOf(body)).toBe(
      '{"store":false,"model":"m","include":["a","reasoning.encrypted_content"],"background":false,"input":"hi","previous_response_id":null}',
    )
    expect(sentOf('{"model":"m","include":["a"],"input":"hi"}', false)).toBe(
      '{"model":"m","include":["a"],"input":"hi","store":false}',
    )
  })
})
