// Which base addresses are kept, and which are refused without repeating a secret.

import { expect, test } from 'bun:test'
import { GatewayError } from '../errors.ts'
import { checkBaseUrl } from './compatible.ts'

test('a base address is kept without trailing slashes', () => {
  expect(checkBaseUrl('https://api.openai.com/v1')).toBe('https://api.openai.com/v1')
  expect(checkBaseUrl('https://api.deepseek.com')).toBe('https://api.deepseek.com')
  expect(checkBaseUrl('http://127.0.0.1:9000/v1//')).toBe('http://127.0.0.1:9000/v1')
  expect(checkBaseUrl('http://[::1]:8080/')).toBe('http://[::1]:8080')
})

const refused: readonly (readonly [text: string, why: RegExp])[] = [
  ['', /absolute address/],
  ['api.openai.com/v1', /absolute address/],
  ['//api.openai.com', /absolute address/],
  ['https://', /absolute address/],
  ['ftp://host/v1', /not ftp:/],
  ['file:///etc/passwd', /not file:/],
  ['https://user:hunter2@host/v1', /credentials/],
  ['https://hunter2@host/v1', /credentials/],
  ['https://host/v1?key=hunter2', /query/],
  ['https://host/v1?', /query/],
  ['https://host/v1#hunter2', /fragment/],
]

test.each(refused)('%p is refused as a base address', (text, why) => {
  let thrown: unknown
  try {
    checkBaseUrl(text)
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(GatewayError)
  const error = thrown as GatewayError
  expect(error.message).toMatch(why)
  expect(error.message).not.toContain('hunter2')
  expect(error.detail.param).toBe('baseUrl')
})
