// Tests words that every object has as members, such as `constructor`, in requests and replies: they are read like any
// other word.

import { describe, expect, test } from 'bun:test'
import { faultTable, GatewayError } from '../src/errors.ts'
import { vendors } from '../src/vendors/registry.ts'
import { UnfitReply, type WriterHead } from '../src/wire/codec.ts'
import type { DialectId } from '../src/wire/formats.ts'
import type { ChatEvent, ChatRequest, JsonObject, JsonValue } from '../src/wire/ir.ts'
import { listOperations } from './golden/support/lists.ts'
import { requestCases } from './golden/support/requests.ts'
import {
  clientHub,
  clientList,
  clientOf,
  dialectOf,
  vendorHub,
  vendorList,
  vendorOf,
} from './support/dialects.ts'
import { type Case, casesOf, type Fixture, vendorFolders } from './support/fixtures.ts'
import { foreignWords, strangeIn, withWord } from './support/foreign-words.ts'

/** Formats of chats, with a model of each; those of clients come first. */
const models: Partial<Record<DialectId, string>> = {
  'openai-chat': 'gpt-5.4',
  'openai-responses': 'gpt-5.4',
  'anthropic-messages': 'claude-sonnet-4-5',
  gemini: 'gemini-2.5-pro',
  'cohere-v2': 'command-a-03-2025',
  'bedrock-converse': 'anthropic.claude-sonnet-4-5',
}
const spoken = Object.entries(models) as [DialectId, string][]
const asked = spoken.slice(0, 4)

interface Attempt<Made> {
  /** null: it was refused with a clear message, or failed. */
  readonly made: Made | null
  readonly wrong: string[]
}

function attempt<Made>(make: () => Made): Attempt<Made> {
  try {
    const made = make()
    return { made, wrong: strangeIn(made) }
  } catch (error) {
    const isRefusal = error instanceof GatewayError || error instanceof UnfitReply
    return { made: null, wrong: isRefusal ? [] : [String(error)] }
  }
}

/** The result of a word in any place of a body. */
function faultsOf(
  body: JsonValue,
  wrong: (body: JsonValue) => readonly string[],
  words: readonly string[] = foreignWords,
): string[] {
  return words.flatMap((word) =>
    [...withWord(body, word)].flatMap((other) => {
      const [first] = wrong(structuredClone(other))
      return first === undefined ? [] : [`${first}: ${JSON.stringify(other)}`]
    }),
  )
}

const hello: ChatRequest = {
  model: 'asked',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
  stream: false,
}

function decoded(dialect: DialectId, model: string, body: JsonValue): ChatRequest {
  return clientHub(dialect).decodeRequest(body as JsonObject, { model, stream: false }).value
}

function headFor(dialect: DialectId): WriterHead {
  const { idPrefix } = clientOf(dialect)
  return { id: `${idPrefix}1`, model: 'asked', createdAt: 1_800_000_000, wantsUsage: true }
}

/** Bodies of the golden cases that the format can express. */
function bodiesIn(dialect: DialectId, model: string): readonly JsonObject[] {
  return requestCases.flatMap(([, request]) => {
    try {
      const { value } = vendorHub(dialect).encodeRequest(structuredClone(request), model)
      return [JSON.parse(JSON.stringify(value)) as JsonObject]
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      return []
    }
  })
}

describe.each(asked)('what clients ask in %s', (dialect, model) => {
  const translated = (body: JsonValue): string[] => {
    const { made: request, wrong } = attempt(() => decoded(dialect, model, body))
    if (request === null) return wrong
    return spoken.flatMap(([target, name]) => {
      return attempt(() => vendorHub(target).encodeRequest(request, name).value).wrong
    })
  }

  test('is refused, or asked in the words of any other format', () => {
    const bodies = bodiesIn(dialect, model)
    expect(bodies.length).toBeGreaterThan(20)
    // Bodies are similar, so one word for each is enough.
    const faults = bodies.flatMap((body, at) =>
      faultsOf(body, translated, foreignWords.slice(at % 3).slice(0, 1)),
    )
    expect(faults.slice(0, 5)).toEqual([])
  })

  const encoded = (request: ChatRequest) =>
    JSON.parse(JSON.stringify(vendorHub(dialect).encodeRequest(request, model).value)) as JsonObject
  const plain = encoded(hello)
  const limited = encoded({ ...hello, maxOutputTokens: 7, temperature: 0 })

  test.each(foreignWords)('is not what stands in a member called %s', (word) => {
    const body = { ...Object.fromEntries([[word, limited]]), ...plain }
    const { extra: _, ...read } = decoded(dialect, model, body)
    expect({ ...read }).toEqual(decoded(dialect, model, plain))
    expect(strangeIn(read)).toEqual([])
  })

  test.each(foreignWords)('has properties called %s in every format', (word) => {
    const properties = Object.fromEntries([[word, { type: 'string' }]])
    const parameters: JsonObject = { type: 'object', properties, required: [word] }
    const tools = [{ type: 'function' as const, name: 'f', parameters }]
    const read = decoded(dialect, model, encoded({ ...hello, tools }))
    for (const [target, name] of spoken) {
      const text = JSON.stringify(vendorHub(target).encodeRequest(read, name).value).toLowerCase()
      expect([target, text]).toEqual([
        target,
        expect.stringContaining(`"${word.toLowerCase()}":{"type":"string"`),
      ])
    }
  })
})

describe('lists of texts', () => {
  const cases = listOperations.flatMap(({ clients, vendors: targets }) =>
    Object.entries(clients).map(([id, bodies]) => ({ id: id as DialectId, bodies, targets })),
  )
  test.each(cases)(
    'in $id are refused, or asked in any other format',
    ({ id, bodies, targets }) => {
      const asking = (body: JsonValue): string[] => {
        const read = () => clientList(id).decodeRequest(body as JsonObject, { model: 'm' }).value
        const { made: request, wrong } = attempt(read)
        if (request === null) return wrong
        return targets.flatMap((target) => {
          return attempt(() => vendorList(target).encodeRequest(request, 'm').value).wrong
        })
      }
      const faults = Object.values(bodies).flatMap((body) => faultsOf(body, asking))
      expect(faults.slice(0, 5)).toEqual([])
    },
  )
})

const replies = vendorFolders.flatMap(casesOf)
const isChat = ({ fixture }: Case) =>
  dialectOf(fixture.dialect).operation === 'chat' && fixture.expect.fault === undefined

function readIn({ dialect, reply }: Fixture, body: JsonValue): readonly ChatEvent[] {
  if (reply.stream === undefined) return vendorHub(dialect).readWhole(body, {})
  const reader = vendorHub(dialect).reader({})
  const frames = (body as JsonValue[]).flatMap((frame) => reader.frame(JSON.stringify(frame)))
  return [...frames, ...reader.end()]
}

const reasons: readonly string[] = ['stop', 'length', 'tool_calls', 'content_filter']

/** Reasons that no format knows. */
function reasonsIn(events: readonly ChatEvent[]): string[] {
  const said = events.flatMap((event) => (event.type === 'choice-end' ? [event.reason] : []))
  return said.filter((reason) => !reasons.includes(reason)).map((reason) => `ends by ${reason}`)
}

describe('what vendors answer', () => {
  test.each(replies.filter(isChat))('is read: $vendor/$name', ({ fixture }) => {
    const { stream, body = null } = fixture.reply
    const whole = stream === undefined ? body : stream.map((data): JsonValue => JSON.parse(data))
    const faults = faultsOf(whole, (other) => {
      const { made: events, wrong } = attempt(() => readIn(fixture, other))
      if (events === null) return wrong
      const told = asked.flatMap(([dialect]) => {
        return attempt(() => clientHub(dialect).writeWhole(events, headFor(dialect))).wrong
      })
      return [...wrong, ...reasonsIn(events), ...told]
    })
    expect(faults.slice(0, 5)).toEqual([])
  })

  const refusals = replies.filter(({ fixture }) => (fixture.reply.status ?? 200) >= 400)
  test.each(refusals)('is a fault that is known: $vendor/$name', ({ vendor, fixture }) => {
    const { status = 400, body = null } = fixture.reply
    const faults = faultsOf(body, (other) => {
      const text = typeof other === 'string' ? other : JSON.stringify(other)
      const read = vendorOf(fixture.dialect).fault(status, () => null, text)
      const fault = vendors[vendor]?.quirks.refine?.(read, status, text) ?? read
      return Object.hasOwn(faultTable, fault.kind) ? strangeIn(fault) : [`kind ${fault.kind}`]
    })
    expect(faults.slice(0, 5)).toEqual([])
  })
})
