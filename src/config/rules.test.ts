// Tests which base addresses a channel may have.

import { expect, test } from 'bun:test'
import { isBaseUrl } from './rules.ts'

test.each([
  'https://api.openai.com/v1',
  'https://api.deepseek.com',
  'http://127.0.0.1:9000/v1//',
  'http://[::1]:8080/',
])('%p is one', (text) => {
  expect(isBaseUrl(text)).toBeTrue()
})

test.each([
  '',
  'api.openai.com/v1',
  '//api.openai.com',
  'https://',
  'ftp://host/v1',
  'file:///etc/passwd',
  'https://user:hunter2@host/v1',
  'https://hunter2@host/v1',
  'https://:hunter2@host/v1',
  'https://host/v1?key=hunter2',
  'https://host/v1?',
  'https://host/v1#hunter2',
])('%p is none', (text) => {
  expect(isBaseUrl(text)).toBeFalse()
})
