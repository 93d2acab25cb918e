// Tests ids of files that are stored with a vendor: they go to that vendor, and are refused for any other.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rows, ToolStage } from './tools-stage.ts'

let stage: ToolStage
beforeAll(async () => {
  stage = await ToolStage.begin()
})
afterAll(() => stage.end())

describe.each(rows)('a file, at $vendor', ({ id, vendor }) => {
  const model = `on-${vendor}`

  test.each(['document', 'image'])("of Anthropic's, as %s", async (type) => {
    stage.asked = null
    const block = { type, source: { type: 'file', file_id: 'file_011CNha' } }
    const messages = [{ role: 'user', content: [block, { type: 'text', text: 'What is it?' }] }]
    const reply = await stage.gateway.post('/v1/messages', { model, max_tokens: 9, messages })
    const text = await reply.text()
    expect(reply.status).toBe(id === 'anthropic-messages' ? 200 : 400)
    expect(text.includes('messages[0].content[0]')).toBe(id !== 'anthropic-messages')
    expect(stage.asked === null).toBe(id !== 'anthropic-messages')
  })

  test("of OpenAI's", async () => {
    stage.asked = null
    const file = { type: 'input_file', file_id: 'file-9dTgQ' }
    const input = [{ role: 'user', content: [file, { type: 'input_text', text: 'What is it?' }] }]
    const { status } = await stage.responses(vendor, { input }, false)
    expect(status).toBe(id.startsWith('openai-') ? 200 : 400)
    expect(stage.asked === null).toBe(!id.startsWith('openai-'))
  })
})
