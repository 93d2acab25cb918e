// Tests requests as code: valid in each language, without keys and file contents.

import { expect, test } from 'bun:test'
import { codeOf } from './code.ts'

const picture = `data:image/png;base64,${'A'.repeat(4_000)}`
const asked = {
  base: 'http://gateway:8787',
  path: '/v1/chat/completions',
  body: {
    model: 'm',
    messages: [
      { role: 'user', content: [{ type: 'image_url', image_url: { url: picture } }] },
      { role: 'assistant', content: null },
      { role: 'user', content: `it's "so"` },
    ],
    stream: true,
  },
}

test('Python has its own words for true and nothing', () => {
  const code = codeOf('python', asked)
  expect(code).toContain('stream=True,')
  expect(code).toContain('"content": None')
  expect(code).toContain('client.chat.completions.create(')
})

test('the body that curl sends is the body, without the bytes of files', () => {
  const code = codeOf('curl', asked)
  const sent = JSON.parse(code.slice(code.indexOf("-d '") + 4, -1).replaceAll(`'\\''`, `'`))
  expect(sent.messages[2].content).toBe(`it's "so"`)
  expect(sent.messages[0].content[0].image_url.url).toBe('data:image/png;base64,…')
  expect(code).toContain('YOUR_KEY')
})

test('JavaScript parses, and asks what the path is for', () => {
  const code = codeOf('javascript', { ...asked, path: '/v1/audio/speech', body: { input: 'Hi' } })
  expect(code).toContain('client.audio.speech.create({')
  expect(() => new Bun.Transpiler({ loader: 'js' }).scan(code)).not.toThrow()
})
