// Tests replies that are JSON lists: requested from every vendor in the form it accepts, and given to the client as
// lists.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Body } from '../agents/offered.ts'
import { rows, ToolStage, user } from './tools-stage.ts'

let stage: ToolStage
beforeAll(async () => {
  stage = await ToolStage.begin()
  stage.text = '{"value": ["a", {"b": "}"}]}'
})
afterAll(() => stage.end())

const list = '["a", {"b": "}"}]'
const contents = [{ role: 'user', parts: [{ text: 'List.' }] }]
const generationConfig = {
  responseMimeType: 'application/json',
  responseSchema: { type: 'ARRAY', items: { type: 'STRING' } },
}

/** The type at the root of every schema in the request. */
function typesIn(value: unknown): unknown[] {
  if (typeof value === 'string' && value.startsWith('{'))
    return typesIn({ schema: JSON.parse(value) })
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    /^(schema|json_schema|input_schema|json)$/.test(name) && inner.type !== undefined
      ? [inner.type]
      : typesIn(inner),
  )
}

function textIn(frames: readonly Body[]): string {
  const parts = frames.flatMap(
    ({ candidates }) => (candidates as Body[])[0]?.['content'] as { parts?: { text?: string }[] },
  )
  return parts
    .flatMap((content) => content?.parts ?? [])
    .reduce((all, { text = '' }) => all + text, '')
}

describe.each(rows.filter(({ id }) => id !== 'gemini'))("of $vendor's", ({ vendor }) => {
  test("reach Google's clients, whole and streamed", async () => {
    const body = { contents, generationConfig }
    const model = `/v1beta/models/on-${vendor}`
    const whole = await stage.gateway.post(`${model}:generateContent`, body)
    expect(whole.status).toBe(200)
    expect(typesIn(stage.asked?.body)).toEqual(['object'])
    expect(textIn([(await whole.json()) as Body])).toBe(list)
    const streamed = await stage.gateway.post(`${model}:streamGenerateContent?alt=sse`, body)
    const frames = [...(await streamed.text()).matchAll(/^data: (.*)$/gm)]
    expect(textIn(frames.map(([, data = '']) => JSON.parse(data) as Body))).toBe(list)
  })
})

test("of Google's are asked for as lists", async () => {
  const schema = { type: 'array', items: { type: 'string' } }
  const reply = await stage.gateway.post('/v1/chat/completions', {
    model: 'on-google',
    messages: [user],
    response_format: { type: 'json_schema', json_schema: { name: 'list', schema } },
  })
  const { choices } = (await reply.json()) as { choices: { message: Body }[] }
  expect(choices[0]?.message['content']).toBe(stage.text)
  expect(stage.asked?.body).toMatchObject({ generationConfig: { responseJsonSchema: schema } })
})
