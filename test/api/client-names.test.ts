// Tests that refused and left-out fields are named by the members of the client's own format, whatever the vendor's is.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Body } from '../agents/offered.ts'
import { ToolStage } from './tools-stage.ts'

let stage: ToolStage
beforeAll(async () => {
  stage = await ToolStage.begin()
})
afterAll(() => stage.end())

const messages = [{ role: 'user', content: 'Hi' }]
const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]

/** What the client of a format sends. */
const asking = {
  messages: (body: Body) => ['/v1/messages', { max_tokens: 50, messages, ...body }] as const,
  responses: (body: Body) => ['/v1/responses', { input: 'Hi', store: false, ...body }] as const,
  gemini: (generationConfig: Body) =>
    ['/v1beta/models/MODEL:generateContent', { contents, generationConfig }] as const,
}

function ask(client: keyof typeof asking, vendor: string, body: Body): Promise<Response> {
  const model = `on-${vendor}`
  const [path, asked] = asking[client](body)
  const named = client === 'gemini' ? asked : { model, ...asked }
  return stage.gateway.post(path.replace('MODEL', model), named)
}

type Case = readonly [keyof typeof asking, vendor: string, body: Body, names: readonly string[]]

describe('left out', () => {
  test.each<Case>([
    ['messages', 'xai', { stop_sequences: ['x'] }, ['stop_sequences']],
    ['messages', 'cohere', { metadata: { user_id: 'u' } }, ['metadata.user_id']],
    ['responses', 'anthropic', { text: { verbosity: 'low' } }, ['text.verbosity']],
    [
      'gemini',
      'anthropic',
      { seed: 5, presencePenalty: 1 },
      ['generationConfig.seed', 'generationConfig.presencePenalty'],
    ],
  ])('a client of %s, on %s: %j', async (client, vendor, body, names) => {
    const reply = await ask(client, vendor, body)
    expect(reply.status).toBe(200)
    const dropped = (reply.headers.get('x-tollgate-dropped') ?? '').split(', ')
    expect(dropped.toSorted()).toEqual(names.toSorted())
  })
})

describe('refused', () => {
  test("Google's candidateCount, where the vendor gives one reply", async () => {
    const reply = await ask('gemini', 'anthropic', { candidateCount: 2 })
    expect(reply.status).toBe(400)
    const { error } = (await reply.json()) as { error: { message: string; details: object[] } }
    expect(error.message).toMatch(/^generationConfig\.candidateCount: /)
    const field = 'generationConfig.candidateCount'
    expect(error.details).toContainEqual(
      expect.objectContaining({ fieldViolations: [expect.objectContaining({ field })] }),
    )
  })
})
