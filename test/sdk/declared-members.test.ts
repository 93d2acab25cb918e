// Tests that translated replies have every member that the official SDKs declare as always there, whole and streamed.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { rows, ToolStage } from '../api/tools-stage.ts'
import { testKey } from '../support/gateway.ts'

/** The members that are not optional; a list of them has to name each, so that a new one of the SDK is found. */
type Always<T> = Record<
  { [Name in keyof T]-?: T extends Record<Name, T[Name]> ? Name : never }[keyof T],
  true
>

const message: Always<Anthropic.Message> = {
  id: true,
  container: true,
  content: true,
  diagnostics: true,
  model: true,
  role: true,
  stop_details: true,
  stop_reason: true,
  stop_sequence: true,
  type: true,
  usage: true,
}
const usage: Always<Anthropic.Usage> = {
  cache_creation: true,
  cache_creation_input_tokens: true,
  cache_read_input_tokens: true,
  inference_geo: true,
  input_tokens: true,
  output_tokens: true,
  output_tokens_details: true,
  server_tool_use: true,
  service_tier: true,
  speed: true,
}
const text: Always<Anthropic.TextBlock> = { citations: true, text: true, type: true }
const call: Always<Anthropic.ToolUseBlock> = {
  id: true,
  caller: true,
  input: true,
  name: true,
  type: true,
}
/** `output_text` is made by the SDK. */
const response: Omit<Always<OpenAI.Responses.Response>, 'output_text'> = {
  id: true,
  access_programs: true,
  created_at: true,
  error: true,
  incomplete_details: true,
  instructions: true,
  metadata: true,
  model: true,
  object: true,
  output: true,
  parallel_tool_calls: true,
  temperature: true,
  tool_choice: true,
  tools: true,
  top_p: true,
}

function missing(found: object, members: object): string[] {
  return Object.keys(members).filter((name) => !(name in found))
}

let stage: ToolStage
beforeAll(async () => {
  stage = await ToolStage.begin()
})
afterAll(() => stage.end())

const foreign = rows.filter(({ id }) => id !== 'anthropic-messages')

test.each(foreign)("a message has those of Anthropic's, on $vendor", async ({ vendor }) => {
  const options = { baseURL: stage.gateway.url, apiKey: testKey, maxRetries: 0 }
  const { messages } = new Anthropic(options)
  const asked = {
    model: `on-${vendor}`,
    max_tokens: 50,
    messages: [{ role: 'user' as const, content: 'Hi' }],
    tools: [{ name: 'f', input_schema: { type: 'object' as const } }],
  }
  for (const type of ['tool_use', 'text']) {
    stage.calls = () => (type === 'text' ? null : { name: 'f', input: {} })
    const whole = await messages.create(asked)
    const streamed = await messages.stream(asked).finalMessage()
    for (const reply of [whole, streamed]) {
      const blocks = reply.content.filter((block) => block.type === type)
      expect(blocks).toHaveLength(1)
      for (const block of blocks) expect(missing(block, type === 'text' ? text : call)).toEqual([])
      // Vercel's SDK, up to version 3 of its part for Anthropic, refuses null.
      for (const block of blocks) if (block.type === 'text') expect(block.citations).toEqual([])
      expect(missing(reply, message)).toEqual([])
      expect(missing(reply.usage, usage)).toEqual([])
    }
  }
})

const translated = rows.filter(({ vendor }) => vendor !== 'xai')

test.each(translated)("a response has those of OpenAI's, on $vendor", async ({ vendor }) => {
  stage.calls = () => null
  const url = `${stage.gateway.url}/v1`
  const { responses } = new OpenAI({ baseURL: url, apiKey: testKey, maxRetries: 0 })
  const asked = { model: `on-${vendor}`, input: 'Hi' }
  const whole = await responses.create(asked)
  const streamed = await responses.stream(asked).finalResponse()
  for (const reply of [whole, streamed]) expect(missing(reply, response)).toEqual([])
})
