// Tests the names of files for OpenAI's formats, which know a file by the end of its name.

import { expect, test } from 'bun:test'
import { vendorHub } from '../../../test/support/dialects.ts'
import type { ChatRequest } from '../ir.ts'
import { chatHub } from '../openai-chat/hub.ts'
import { responsesHub } from '../openai-responses/hub.ts'

const pdf = 'data:application/pdf;base64,JVBERi0='

test.each([
  [undefined, 'file.pdf'],
  ['Report 2026', 'Report 2026.pdf'],
  ['v1.2 of the plan', 'v1.2 of the plan.pdf'],
  ['report.pdf', 'report.pdf'],
  ['report.PDF', 'report.PDF'],
])('a file named %p is sent as %p', (name, filename) => {
  const file = { type: 'file', url: pdf, ...(name !== undefined && { name }) } as const
  const request: ChatRequest = {
    model: 'm',
    messages: [{ role: 'user', parts: [file] }],
    stream: false,
  }
  const sent = { filename, file_data: pdf }
  expect(vendorHub('openai-chat').encodeRequest(request, 'm').value).toMatchObject({
    messages: [{ content: [{ type: 'file', file: sent }] }],
  })
  expect(vendorHub('openai-responses').encodeRequest(request, 'm').value).toMatchObject({
    input: [{ content: [{ type: 'input_file', ...sent }] }],
  })
})

test.each([
  ['a.txt', 'text/plain'],
  ['Notes.v2.MD', 'text/markdown'],
  ['a.pdf', 'application/pdf'],
  ['a.unknown', 'application/pdf'],
  ['txt', 'application/pdf'],
  [undefined, 'application/pdf'],
])('bare base64 of a file named %p is %p', (filename, mediaType) => {
  const file = { file_data: 'aGk=', ...(filename !== undefined && { filename }) }
  const ofChat = chatHub.decodeRequest({
    model: 'm',
    messages: [{ role: 'user', content: [{ type: 'file', file }] }],
  })
  const ofResponses = responsesHub.decodeRequest({
    model: 'm',
    input: [{ role: 'user', content: [{ type: 'input_file', ...file }] }],
  })
  for (const { value } of [ofChat, ofResponses])
    expect(value.messages[0]?.parts).toMatchObject([
      { type: 'file', url: `data:${mediaType};base64,aGk=` },
    ])
})

test('a file of an unknown type keeps its name', () => {
  const url = 'data:application/x-unknown;base64,AAAA'
  const parts = [{ type: 'file', url, name: 'blob' }] as const
  const request: ChatRequest = { model: 'm', messages: [{ role: 'user', parts }], stream: false }
  expect(vendorHub('openai-responses').encodeRequest(request, 'm').value).toMatchObject({
    input: [{ content: [{ filename: 'blob' }] }],
  })
})
