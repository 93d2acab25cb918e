// Tests every client format with every vendor format, feature by feature: what works is observed and written to a page.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { vendors } from '../../src/vendors/registry.ts'
import { dialects } from '../../src/wire/dialects.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import {
  anthropicMessages,
  type Client,
  completions,
  gemini,
  openaiChat,
  openaiResponses,
} from './clients.ts'
import { type Feature, features, scenarios, type Understood } from './said.ts'
import { slugOf, startUpstream, type Upstream } from './upstream.ts'

const page = join(import.meta.dir, '../../docs/conformance.md')
/** Writes the page again instead of comparing it with the results. */
const writes = process.env['TOLLGATE_WRITE_CONFORMANCE'] === '1'

/** A channel for each format that vendors use, and a model family with every ability. */
const rows = [
  { name: 'OpenAI chat', vendor: 'openai', dialect: 'openai-chat', family: 'gpt-5' },
  { name: 'OpenAI Responses', vendor: 'openai', dialect: 'openai-responses', family: 'gpt-5' },
  {
    name: 'Anthropic',
    vendor: 'anthropic',
    dialect: 'anthropic-messages',
    family: 'claude-sonnet-4-5',
  },
  { name: 'Gemini', vendor: 'google', dialect: 'gemini', family: 'gemini-3-flash' },
  { name: 'Cohere', vendor: 'cohere', dialect: 'cohere-v2', family: 'command-a-reasoning' },
  {
    name: 'Bedrock',
    vendor: 'bedrock',
    dialect: 'bedrock-converse',
    family: 'anthropic.claude-sonnet-4-5',
  },
].filter(({ vendor, dialect }) => vendors[vendor]?.speaks.some((each: string) => each === dialect))

const clientsOf = (api: string, key: string) =>
  [openaiChat, openaiResponses, anthropicMessages, gemini, completions].map((client) =>
    client(api, key),
  )
/** The features that each client format can express. */
const offered = new Map(clientsOf('http://127.0.0.1', 'none').map(({ name, has }) => [name, has]))

let upstream: Upstream
let gateway: Gateway
let clients: readonly Client[]

beforeAll(async () => {
  upstream = startUpstream()
  const channels = rows.map(({ vendor, dialect }) => ({
    id: dialect,
    vendor,
    dialect,
    baseUrl: upstream.url,
    key: 'vendor-key',
    options: vendor === 'bedrock' ? { region: 'us-east-1' } : {},
    // The vendor's own model name is the feature.
    models: { [`${dialect}/*`]: '*' },
  }))
  gateway = await startGateway({ config: { channels } })
  const api = `${gateway.url}/v1`
  clients = clientsOf(api, gateway.key)
})

afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

type Cell = 'works' | 'refused' | 'not counted'
const found = new Map<string, Cell>()
const keyOf = (client: string, row: string, feature: Feature, stream: boolean) =>
  [client, row, feature, stream ? 'streamed' : 'whole'].join(' / ')

const clientNames = [
  { name: 'chat completions', dialect: 'openai-chat' },
  { name: 'responses', dialect: 'openai-responses' },
  { name: 'messages', dialect: 'anthropic-messages' },
  { name: 'generateContent', dialect: 'gemini' },
  { name: 'completions', dialect: 'openai-completions' },
].flatMap(({ name, dialect }) => (dialect in dialects ? [name] : []))

describe.each(clientNames)('%s', (name) => {
  describe.each(rows)('on $name', ({ name: row, dialect, family }) => {
    test.each(offered.get(name) ?? [])('%s, whole and streamed', async (feature) => {
      const client = clients.find((each) => each.name === name)
      if (client === undefined) throw new Error(`no client ${name}`)
      for (const stream of [false, true]) {
        const model = `${dialect}/${family}-${slugOf(feature)}`
        const cell = await tried(client, feature, model, stream)
        found.set(keyOf(name, row, feature, stream), cell)
      }
    })
  })
})

/** The result: anything but the scenario as scripted, or a clear refusal, fails the test. */
async function tried(
  client: Client,
  feature: Feature,
  model: string,
  stream: boolean,
): Promise<Cell> {
  let understood: Understood
  try {
    understood = await client.ask(feature, model, stream)
  } catch (error) {
    if (error instanceof Error && 'status' in error && error.status === 400) return 'refused'
    throw error
  }
  expectSaid(understood, feature, model)
  return feature === 'caching' && !splitsCached(model) ? 'not counted' : 'works'
}

/** Cohere and Bedrock count reasoning with the rest of the output. */
function splitsReasoning(model: string): boolean {
  return !/^(cohere-v2|bedrock-converse)/.test(model)
}

/** Cohere bills the whole prompt as one count. */
function splitsCached(model: string): boolean {
  return !model.startsWith('cohere-v2')
}

function expectSaid(understood: Understood, feature: Feature, model: string): void {
  const said = scenarios[feature]
  expect(understood.text).toBe(said.text)
  expect(understood.calls).toEqual(said.calls.map(({ name, input }) => ({ name, input })))
  if (understood.reasoning !== null) expect(understood.reasoning).toBe(said.reasoning)
  const { usage } = said
  const reasoning = splitsReasoning(model) ? usage.reasoning : 0
  const output = usage.output + usage.reasoning - reasoning
  const cached = splitsCached(model) ? usage.cached : 0
  const input = usage.input + usage.cached - cached
  expect(understood.usage).toEqual({ input, cached, output, reasoning })
}

test('docs/conformance.md says what was seen', () => {
  const text = pageText()
  if (writes) writeFileSync(page, text)
  expect(existsSync(page) ? readFileSync(page, 'utf8') : '').toBe(text)
})

function pageText(): string {
  const tables = clientNames.map((client) => {
    const head = `| vendor's format | ${features.join(' | ')} |\n|---|${features.map(() => '---|').join('')}`
    const lines = rows.map(
      ({ name }) =>
        `| ${name} | ${features.map((each) => cellOf(client, name, each)).join(' | ')} |`,
    )
    return `## ${client}\n\n${head}\n${lines.join('\n')}\n`
  })
  return `${opening}\n${tables.join('\n')}`
}

function cellOf(client: string, row: string, feature: Feature): string {
  const [whole, streamed] = [false, true].map(
    (stream) =>
      found.get(keyOf(client, row, feature, stream)) ??
      (offered.get(client)?.includes(feature) ? 'not tried' : 'not offered'),
  )
  return whole === streamed ? `${whole}` : `whole ${whole}, streamed ${streamed}`
}

const opening = `# Conformance

Which client's format reaches which vendor's format with what, whole and streamed alike unless a cell says otherwise. Written by \`test/conformance/matrix.test.ts\`, which asks with the official clients, holds the vendor's side to what each feature needs, and compares what the client understood with what the vendor said, token counts of every kind included. Images, sound, videos, moderations and realtime have [a page of their own](conformance-media.md).

\`works\`: as it was said. \`refused\`: 400 with the reason, nothing was sent. \`not offered\`: the client's format has no words for it. \`not counted\`: what the vendor bills does not say it.
`
