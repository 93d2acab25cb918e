// Tests that the clients of OpenAI, Anthropic and Codex all accept the same body of GET /v1/models.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { authorized } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'

let gateway: Gateway
const names = ['plain', 'with/slash:tag@2026', 'vectors', 'ünïcode']

beforeAll(async () => {
  gateway = await startGateway({
    config: {
      channels: [{ id: 'main', vendor: 'sandbox', models: names }],
      models: {
        plain: { kind: 'chat', context: 64_000, vision: true, ownedBy: 'somebody' },
        vectors: { kind: 'embedding' },
      },
    },
  })
})
afterAll(() => gateway.stop())

const openaiModel = z.object({
  id: z.string().min(1),
  object: z.literal('model'),
  created: z.int().positive(),
  owned_by: z.string().regex(/^[^A-Z]+$/),
})

/** https://docs.anthropic.com/en/api/models-list: ModelInfo, and the page that contains it. */
const anthropicPage = z.object({
  data: z.array(
    z.object({
      type: z.literal('model'),
      id: z.string(),
      display_name: z.string(),
      created_at: z.iso.datetime(),
    }),
  ),
  first_id: z.string(),
  last_id: z.string(),
  has_more: z.boolean(),
})

/** Fields without a default in openai/codex, codex-rs/protocol/src/openai_models.rs, `ModelInfo`. */
const codexList = z.object({
  models: z.array(
    z.object({
      slug: z.string(),
      display_name: z.string(),
      description: z.string().nullable(),
      supported_reasoning_levels: z.array(
        z.object({ effort: z.string(), description: z.string() }),
      ),
      shell_type: z.enum(['default', 'local', 'unified_exec', 'disabled', 'shell_command']),
      visibility: z.enum(['list', 'hide', 'none']),
      supported_in_api: z.boolean(),
      priority: z.int(),
      base_instructions: z.string().min(1),
      supports_reasoning_summaries: z.boolean(),
      support_verbosity: z.boolean(),
      default_verbosity: z.enum(['low', 'medium', 'high']).nullable(),
      apply_patch_tool_type: z.enum(['freeform', 'function']).nullable(),
      truncation_policy: z.object({ mode: z.enum(['bytes', 'tokens']), limit: z.int() }),
      supports_parallel_tool_calls: z.boolean(),
      context_window: z.int().positive().nullish(),
      experimental_supported_tools: z.array(z.string()),
    }),
  ),
})

async function list(headers: Record<string, string> = {}): Promise<unknown> {
  const reply = await fetch(`${gateway.url}/v1/models`, {
    headers: { ...authorized(), ...headers },
  })
  expect(reply.status).toBe(200)
  expect(reply.headers.get('content-type')).toBe('application/json')
  return reply.json()
}

test('the list of OpenAI', async () => {
  const body = z
    .object({ object: z.literal('list'), data: z.array(openaiModel) })
    .parse(await list())
  expect(body.data.map(({ id }) => id)).toEqual([...names].sort())
  expect(body.data.find(({ id }) => id === 'plain')?.owned_by).toBe('somebody')
})

test('the page of Anthropic, whose SDK sends its version and its key in x-api-key', async () => {
  const page = anthropicPage.parse(await list({ 'anthropic-version': '2023-06-01' }))
  expect(page.first_id).toBe(page.data[0]?.id ?? '')
  expect(page.last_id).toBe(page.data.at(-1)?.id ?? '')
  expect(page.has_more).toBeFalse()
})

test('the list of Codex names chat models only', async () => {
  const { models } = codexList.parse(await list())
  expect(models.map(({ slug }) => slug)).toEqual(names.filter((name) => name !== 'vectors').sort())
  expect(models.find(({ slug }) => slug === 'plain')?.context_window).toBe(64_000)
})

test('the list also at an address that ends in a slash', async () => {
  for (const path of ['/v1/models', '/models', '/v1beta/models']) {
    const [list, slashed] = await Promise.all(
      [path, `${path}/`].map((each) => fetch(gateway.url + each, { headers: authorized() })),
    )
    expect(await slashed?.json()).toEqual(await list?.json())
  }
})

test('one model by its id, plain or percent-encoded', async () => {
  for (const name of names) {
    for (const path of [name, encodeURIComponent(name), encodeURI(name)]) {
      for (const prefix of ['/v1', '', '/v1/v1', '/openai/v1', '/openai']) {
        const reply = await fetch(`${gateway.url}${prefix}/models/${path}`, {
          headers: authorized(),
        })
        expect(`${path} ${reply.status}`).toBe(`${path} 200`)
        expect(openaiModel.parse(await reply.json()).id).toBe(name)
      }
    }
  }
})
