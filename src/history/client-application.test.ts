// Tests which application a User-Agent names, whatever it contains.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { clientApplication } from './client-application.ts'

test.each([
  ['claude-cli/1.0.44 (external, cli)', 'claude-code', '1.0.44'],
  ['codex_cli_rs/0.42.0 (Ubuntu 24.04; x86_64) xterm-256color', 'codex', '0.42.0'],
  ['codex_exec/0.61.0-alpha.2 (Debian)', 'codex', '0.61.0-alpha.2'],
  ['GeminiCLI/0.1.5/gemini-2.5-pro (linux; x64)', 'gemini-cli', '0.1.5'],
  ['google-genai-sdk/1.2.0 gl-node/v22', 'google-genai', '1.2.0'],
  ['OpenAI/Python 1.109.1', 'openai-python', '1.109.1'],
  ['AsyncOpenAI/Python 1.109.1', 'openai-python', '1.109.1'],
  ['AzureOpenAI/JS 5.0.1', 'openai-node', '5.0.1'],
  ['Anthropic/JS 0.60.0', 'anthropic-node', '0.60.0'],
  ['ai-sdk/openai/2.0.1 runtime/node.js/22', 'ai-sdk', '2.0.1'],
  ['ai/5.0.0 ai-sdk/provider-utils/3.0.0', 'ai-sdk', '5.0.0'],
  ['Mozilla/5.0 (X11; Linux x86_64)', 'browser', null],
  ['curl/8.5.0', 'curl', '8.5.0'],
  ['python-httpx/0.27.0', 'python-httpx', '0.27.0'],
  ['Bun/1.4.5', 'bun', '1.4.5'],
  ['my agent', 'my', null],
])('%s', (header, name, version) => {
  expect(clientApplication(header)).toEqual({ name, version })
})

test.each([null, '', '   ', '()', 'a'.repeat(257), '\u0000'])('%p names none', (header) => {
  expect(clientApplication(header)).toBeNull()
})

test('whatever is sent, a name and a version are short and plain', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary', maxLength: 400 })), (header) => {
      const found = clientApplication(header)
      if (found === null) return
      expect(found.name).toMatch(/^[a-z0-9][\w.+-]{0,39}$/)
      if (found.version !== null) expect(found.version).toMatch(/^\d[\w.+-]{0,23}$/)
      expect(clientApplication(header)).toBe(found)
    }),
    { numRuns: 2_000 },
  )
})
