// Tests that every request, written in a format and read again, is unchanged except for recorded differences.

import { afterAll, describe, expect, test } from 'bun:test'
import { GatewayError } from '../src/errors.ts'
import type { DialectId } from '../src/wire/formats.ts'
import type { ChatRequest, JsonObject } from '../src/wire/ir.ts'
import { asking } from './golden/support/asking.ts'
import { GoldenFiles } from './golden/support/files.ts'
import { requestCases } from './golden/support/requests.ts'
import { show } from './golden/support/show.ts'
import { clientHub, vendorHub } from './support/dialects.ts'

/** Client formats, each with a model that has every ability. */
const models: Partial<Record<DialectId, string>> = {
  'openai-chat': 'gpt-5.4',
  'openai-completions': 'gpt-3.5-turbo-instruct',
  'openai-responses': 'gpt-5.4',
  'anthropic-messages': 'claude-sonnet-4-5',
  gemini: 'gemini-3-pro',
}

const files = new GoldenFiles(['returned.json'])

interface Returned {
  readonly request: ChatRequest
  readonly dropped: readonly string[]
}

/** Null if this format cannot express it. */
function returned(dialect: DialectId, model: string, request: ChatRequest): Returned | null {
  try {
    const { value, dropped } = vendorHub(dialect).encodeRequest(structuredClone(request), model)
    const body = JSON.parse(JSON.stringify(value)) as JsonObject
    const again = clientHub(dialect).decodeRequest(body, { model, stream: request.stream }).value
    return { request: again, dropped }
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return null
  }
}

/** Fields that came back changed; null for those that did not, or were not there. */
function unlike(before: JsonObject, after: JsonObject): JsonObject {
  const found: JsonObject = {}
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (!Bun.deepEquals(before[name], after[name])) found[name] = after[name] ?? null
  }
  return found
}

const trips = Object.entries(models) as [DialectId, string][]

/** Fields that request the default, and one that a tool expresses: losing them loses nothing. */
const notLost = new Set([
  'choices-1',
  'modalities-text',
  'format-text',
  'tier-default',
  'format-json',
])

describe.each(trips)('%s', (dialect, model) => {
  test('what comes back otherwise is written down', () => {
    const changed: JsonObject = {}
    /** Requested fields that were lost without being named. */
    const silent: string[] = []
    for (const [name, request] of requestCases) {
      const again = returned(dialect, model, request)
      if (again === null) continue
      const { maxOutputTokens: limit } = request
      // A format that requires a limit is given the model's own.
      const kept =
        limit === undefined
          ? (({ maxOutputTokens: _, ...rest }) => rest)(again.request)
          : again.request
      const differs = unlike(asking(request), asking(kept))
      const lost = Object.keys(differs).filter((each) => {
        return differs[each] === null && !/^(message|tool) /.test(each)
      })
      if (lost.length > again.dropped.length && !notLost.has(name)) silent.push(name)
      if (Object.keys(differs).length > 0) changed[name] = differs
    }
    expect(silent).toEqual([])
    files.hold(dialect, 'requests', 'returned.json', show(changed))
  })
})

afterAll(() => expect(files.astray()).toEqual([]))
