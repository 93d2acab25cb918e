// Compares every request, as each format writes it for its vendors, with golden files.

import { afterAll, describe, expect, test } from 'bun:test'
import { GatewayError } from '../src/errors.ts'
import type { VendorHub } from '../src/wire/codec.ts'
import type { DialectId } from '../src/wire/formats.ts'
import type { ChatRequest, JsonObject } from '../src/wire/ir.ts'
import { GoldenFiles } from './golden/support/files.ts'
import { requestCases } from './golden/support/requests.ts'
import { show } from './golden/support/show.ts'
import { vendorHub } from './support/dialects.ts'

/** Models that get different requests, by dialect. */
const models: Partial<Record<DialectId, readonly string[]>> = {
  'openai-chat': ['gpt-5.4'],
  'openai-completions': ['gpt-3.5-turbo-instruct'],
  'openai-responses': ['gpt-5.4', 'gpt-4.1'],
  'anthropic-messages': ['claude-sonnet-4-5', 'claude-opus-5'],
  gemini: ['gemini-3-pro', 'gemini-2.5-flash', 'gemini-2.0-flash'],
  'bedrock-converse': ['anthropic.claude-sonnet-4-5-v1:0', 'amazon.nova-pro-v1:0'],
  'cohere-v2': ['command-a-03-2025', 'command-a-reasoning-08-2025'],
}

const files = new GoldenFiles(['request.json'])

/** The vendor's request, or the reason why there is none. */
interface Outcome {
  readonly body?: JsonObject
  readonly dropped?: string[]
  readonly refused?: JsonObject
}

function outcomeOf(hub: VendorHub, request: ChatRequest, model: string): Outcome {
  try {
    const { value, dropped } = hub.encodeRequest(request, model)
    // If the body names the model, it is the requested one.
    const { model: named = model, ...body } = value
    expect(named).toBe(model)
    return { body, ...(dropped.length > 0 && { dropped: [...dropped] }) }
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    expect(error.code).toBe('invalid_request_error')
    return { refused: { message: error.message, param: error.detail.param ?? null } }
  }
}

/** The fields that differ from the first model's; null for those that this one lacks. */
function unlike(first: JsonObject, other: JsonObject): JsonObject {
  const names = new Set([...Object.keys(first), ...Object.keys(other)])
  const found: JsonObject = {}
  for (const name of names) {
    if (!Bun.deepEquals(first[name], other[name])) found[name] = other[name] ?? null
  }
  return found
}

/** The request to each model; of all but the first only where it differs. */
function outcomesOf(dialect: DialectId, request: ChatRequest): JsonObject {
  const hub = vendorHub(dialect)
  const [model = '', ...more] = models[dialect] ?? []
  const first = outcomeOf(hub, request, model)
  const outcomes: JsonObject = { [model]: { ...first } }
  for (const each of more) {
    const outcome = outcomeOf(hub, request, each)
    const differs = unlike({ ...first }, { ...outcome })
    if (first.body !== undefined && outcome.body !== undefined) {
      const body = unlike(first.body, outcome.body)
      delete differs['body']
      if (Object.keys(body).length > 0) differs['body'] = body
    }
    if (Object.keys(differs).length > 0) outcomes[`unlike it, ${each}`] = differs
  }
  return outcomes
}

describe.each(Object.keys(models) as DialectId[])('%s', (dialect) => {
  test.each(requestCases)('%s is put to the vendor as written down', (name, request) => {
    files.hold(dialect, name, 'request.json', show(outcomesOf(dialect, structuredClone(request))))
  })
})

afterAll(() => expect(files.astray()).toEqual([]))
