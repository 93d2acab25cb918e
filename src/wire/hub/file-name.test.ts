// Tests the names of files for OpenAI's formats, which know a file by the end of its name.

import { expect, test } from 'bun:test'
import { vendorHub } from '../../../test/support/dialects.ts'
import type { ChatRequest } from '../ir.ts'

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

test('a file of an unknown type keeps its name', () => {
  const url = 'data:application/x-unknown;base64,AAAA'
  const parts = [{ type: 'file', url, name: 'blob' }] as const
  const request: ChatRequest = { model: 'm', messages: [{ role: 'user', parts }], stream: false }
  expect(vendorHub('openai-responses').encodeRequest(request, 'm').value).toMatchObject({
    input: [{ content: [{ filename: 'blob' }] }],
  })
})
