// Replays every vendor's documented replies, and requires each vendor to have them.

import { describe, expect, test } from 'bun:test'
import type { Fault } from '../src/errors.ts'
import { vendors } from '../src/vendors/registry.ts'
import { call } from '../src/vendors/sandbox/testing.ts'
import { dialects } from '../src/wire/dialects.ts'
import type { ChatEvent, JsonObject, JsonValue, Usage } from '../src/wire/ir.ts'
import type { ListRequest } from '../src/wire/list/list.ts'
import { frameKind, type ReplyQuirks } from '../src/wire/reply.ts'
import {
  clientOf,
  dialectOf,
  identityOf,
  vendorHub,
  vendorList,
  vendorOf,
} from './support/dialects.ts'
import {
  addressOf,
  bytesOf,
  type Case,
  casesOf,
  type Expected,
  type Fixture,
  vendorFolders,
} from './support/fixtures.ts'

const cases = vendorFolders.flatMap(casesOf)

/** Formats that only vendors use: their replies are always translated, and no client sends them. */
const vendorSide: ReadonlySet<string> = new Set(['cohere-v2', 'bedrock-converse'])

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

test('every vendor has fixtures, and every fixture a vendor', () => {
  expect(vendorFolders.toSorted()).toEqual(Object.keys(vendors).toSorted())
})

test.each(Object.keys(vendors))('%s has the fixtures its dialects call for', (id) => {
  const names = new Set(casesOf(id).map(({ name }) => name))
  const speaks = vendors[id]?.speaks ?? []
  const wanted = ['bad-key', 'rate-limit']
  const offers = (operation: string) =>
    speaks.some((dialect) => dialects[dialect].operation === operation)
  if (offers('chat')) wanted.push('text', 'text-stream')
  // Perplexity offers no tools.
  if (offers('chat') && id !== 'perplexity') wanted.push('tool-stream')
  if (offers('embedding')) wanted.push('embeddings')
  if (offers('rerank')) wanted.push('rerank')
  if (speaks.includes('openai-completions')) wanted.push('completion', 'completion-stream')
  expect(wanted.filter((name) => !names.has(name))).toEqual([])
})

test.each(cases)(
  '$vendor/$name says where it is from and asks what was answered',
  ({ vendor, fixture }) => {
    expect(['documented', 'recorded']).toContain(fixture.source)
    expect(fixture.from.length).toBeGreaterThan(10)
    expect(vendors[vendor]?.speaks ?? []).toContain(fixture.dialect)
    const asked = { ...fixture.request, ...addressOf(fixture) }
    // Google's embeddings name it with each text.
    if (fixture.dialect !== 'gemini-embeddings') expect(asked.model).toBe(fixture.model)
    expect(asked.stream === true).toBe(fixture.reply.stream !== undefined)
    expect(Object.keys(fixture.expect)).not.toEqual([])
  },
)

/** The usage as the vendor sent it: the last one of a stream. */
function rawUsage({ vendor, fixture }: Case): JsonObject | null {
  const path = vendors[vendor]?.quirks.usagePath ?? ['usage']
  const bodies = fixture.reply.stream?.map((data): JsonValue => JSON.parse(data)) ?? [
    fixture.reply.body ?? null,
  ]
  let found: JsonObject | null = null
  for (const body of bodies) {
    if (!isObject(body)) continue
    let value: JsonValue | undefined = body
    for (const key of path) {
      value = Array.isArray(value) ? value[Number(key)] : isObject(value) ? value[key] : undefined
    }
    const usage = isObject(value) ? value : body.usage
    if (isObject(usage)) found = usage
  }
  return found
}

/** The disjoint kinds of a usage in OpenAI's form, calculated from its documentation alone. */
function kinds(usage: JsonObject): Usage {
  const number = (value: JsonValue | undefined): number => (typeof value === 'number' ? value : 0)
  const prompt = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
  const completion = isObject(usage.completion_tokens_details)
    ? usage.completion_tokens_details
    : {}
  const cachedInput = number(prompt.cached_tokens)
  const cacheWrite = number(prompt.cache_write_tokens)
  const reasoning = number(completion.reasoning_tokens)
  return {
    input: number(usage.prompt_tokens) - cachedInput - cacheWrite,
    cachedInput,
    cacheWrite,
    output: number(usage.completion_tokens) - reasoning,
    reasoning,
  }
}

/** Other formats have different kinds. */
const counted = cases.filter(
  ({ fixture }) => fixture.expect.usage !== undefined && fixture.dialect.startsWith('openai-'),
)

describe('W29: the vendor quirks bring usage into the shape of OpenAI', () => {
  test.each(counted)('$vendor/$name', (item) => {
    const raw = rawUsage(item)
    if (raw === null) throw new Error('the fixture reports no usage')
    const before = structuredClone(raw)
    const corrected = vendors[item.vendor]?.quirks.usage?.(raw) ?? raw
    expect(kinds(corrected)).toEqual(item.fixture.expect.usage as Usage)
    expect(raw).toEqual(before)
    if (item.fixture.dialect !== 'openai-embeddings') {
      expect(corrected.total_tokens).toBe(
        Number(corrected.prompt_tokens) + Number(corrected.completion_tokens),
      )
    }
  })
})

/** The meaning of a status alone, without the vendor's own code. */
function plainFault(status: number): Fault {
  const kinds: Readonly<Record<number, Fault['kind']>> = {
    200: 'unreadable',
    401: 'credentials',
    402: 'quota',
    403: 'credentials',
    404: 'unknown_model',
    429: 'rate_limited',
    503: 'vendor_error',
  }
  return { kind: kinds[status] ?? 'rejected', message: `status ${status}`, status }
}

const refined = cases.filter(
  ({ vendor, fixture }) =>
    vendors[vendor]?.quirks.refine !== undefined &&
    fixture.expect.fault !== undefined &&
    !(vendorSide.has(fixture.dialect) && fixture.reply.stream !== undefined),
)

describe('vendors with error codes of their own sharpen what the status says', () => {
  test.each(refined)('$vendor/$name', ({ vendor, fixture }) => {
    const status = fixture.reply.status ?? 200
    const fault = vendors[vendor]?.quirks.refine?.(plainFault(status), status, bytesOf(fixture))
    expect(fault?.kind).toBe(fixture.expect.fault?.kind as Fault['kind'])
    expect(fault?.message).not.toBe('')
  })
})

describe('the sandbox answers what its fixtures say, byte for byte', () => {
  test.each(casesOf('sandbox'))('$name', async ({ fixture }) => {
    const reply = await call(fixture.dialect, fixture.request)
    expect([reply.status, reply.fault]).toEqual([fixture.reply.status ?? 200, null])
    expect(reply.text).toBe(bytesOf(fixture))
  })
})

/** The content of a reply, folded from the events of the hub. */
function fold(events: readonly ChatEvent[]): Expected {
  let text = ''
  let reasoning = ''
  const calls = new Map<string, { id: string; name: string; arguments: string }>()
  const kinds = new Map<string, string>()
  const folded: { finishReason?: string; usage?: Usage } = {}
  for (const event of events) {
    if (event.type === 'part-start') {
      const key = `${event.choice}.${event.part}`
      kinds.set(key, event.head.type)
      if (event.head.type === 'tool-call') {
        calls.set(key, { id: event.head.id, name: event.head.name, arguments: '' })
      }
    } else if (event.type === 'part-delta') {
      const key = `${event.choice}.${event.part}`
      const call = calls.get(key)
      if (call !== undefined) call.arguments += event.text
      else if (kinds.get(key) === 'reasoning') reasoning += event.text
      else text += event.text
    } else if (event.type === 'choice-end') folded.finishReason = event.reason
    else if (event.type === 'usage' && event.usage !== null) folded.usage = event.usage
    else if (event.type === 'fault') throw new Error(event.fault.message)
  }
  return { text, reasoning, toolCalls: [...calls.values()], ...folded }
}

function quirksOf(vendor: string): ReplyQuirks {
  return vendors[vendor]?.quirks ?? {}
}

/** Only the kinds of token: a dialect may distinguish more of them. */
function kindsOf(usage: Usage | null | undefined): Usage | null {
  if (usage === null || usage === undefined) return null
  const { input, cachedInput, cacheWrite, output, reasoning } = usage
  return { input, cachedInput, cacheWrite, output, reasoning }
}

function expectFault(item: Case, fault: Fault | null, status: number, body: string): void {
  if (fault === null) throw new Error('no fault was seen')
  const refined = vendors[item.vendor]?.quirks.refine?.(fault, status, body) ?? fault
  expect(refined).toMatchObject(item.fixture.expect.fault ?? {})
  expect(refined.message.length).toBeGreaterThan(0)
}

const chats = cases.filter(
  ({ fixture: { dialect } }) =>
    dialects[dialect].operation === 'chat' && dialectOf(dialect).vendor?.hub !== undefined,
)

describe('every chat reply means what its fixture says', () => {
  test.each(chats.filter(({ fixture }) => fixture.expect.fault === undefined))(
    '$vendor/$name',
    (item) => {
      const hub = vendorHub(item.fixture.dialect)
      const { stream, body } = item.fixture.reply
      const quirks = quirksOf(item.vendor)
      let events: readonly ChatEvent[]
      if (stream === undefined) events = hub.readWhole(structuredClone(body ?? null), quirks)
      else {
        const reader = hub.reader(quirks)
        events = [...stream.flatMap((data) => reader.frame(data)), ...reader.end()]
      }
      const { text = '', reasoning = '', toolCalls = [], finishReason, usage } = item.fixture.expect
      const folded = fold(events)
      expect({ ...folded, usage: kindsOf(folded.usage) } as unknown).toEqual({
        text,
        reasoning,
        toolCalls,
        finishReason,
        usage: usage ?? null,
      })
    },
  )
})

describe('every stream that fails says why', () => {
  const failing = chats.filter(
    ({ fixture }) => fixture.expect.fault !== undefined && vendorSide.has(fixture.dialect),
  )
  test.each(failing.filter(({ fixture }) => fixture.reply.stream !== undefined))(
    '$vendor/$name',
    (item) => {
      const { dialect, reply } = item.fixture
      const reader = vendorHub(dialect).reader(quirksOf(item.vendor))
      const events = (reply.stream ?? []).flatMap((data) => [...reader.frame(data)])
      const faults = events.flatMap((event) => (event.type === 'fault' ? [event.fault] : []))
      expectFault(item, faults[0] ?? null, 200, '')
    },
  )
})

/** Streams that are relayed unchanged; the others are rewritten from their events. */
const watched = cases.filter(
  ({ vendor, fixture }) =>
    fixture.reply.stream !== undefined &&
    !vendorSide.has(fixture.dialect) &&
    !(fixture.dialect === 'openai-chat' && quirksOf(vendor).rewrite === true),
)

describe('every stream is watched for its usage, its end and its fault', () => {
  test.each(watched)('$vendor/$name', (item) => {
    const watcher = identityOf(item.fixture.dialect).watcher({
      wantsUsage: false,
      quirks: quirksOf(item.vendor),
    })
    let frame = 0
    let semantic = false
    const seen = bytesOf(item.fixture)
      .split(/(?<=\n\n)/)
      .map((text) => {
        const bytes = new TextEncoder().encode(text)
        frame = watcher.frame(bytes, 0, bytes.length)
        if (frame === frameKind.usage) watcher.amend(bytes, 0, bytes.length)
        semantic ||= watcher.semantic
        return frame
      })
    if (item.fixture.expect.fault !== undefined) {
      expect(seen).toContain(frameKind.fault)
      expectFault(item, watcher.fault, 200, item.fixture.reply.stream?.at(-1) ?? '')
      return
    }
    expect(watcher.fault).toBeNull()
    // A frame with usage may also contain text.
    expect(semantic).toBe(true)
    if (identityOf(item.fixture.dialect).terminator !== '') expect(frame).toBe(frameKind.done)
    expect(watcher.finishReason).not.toBeNull()
    expect(kindsOf(watcher.usage)).toEqual(item.fixture.expect.usage ?? null)
    expect(watcher.outputBytes).toBeGreaterThan(0)
  })
})

/** A reply that is not an error is checked by its events if no client gets it unchanged. */
const wholes = cases.filter(({ fixture }) => {
  const { dialect, reply } = fixture
  const isRefused = (reply.status ?? 200) >= 400
  return (
    reply.stream === undefined &&
    !(vendorSide.has(dialect) && reply.status === 200) &&
    (isRefused || !isListOnly(fixture))
  )
})

function headerOf(fixture: Fixture): (name: string) => string | null {
  return (name) => fixture.reply.headers?.[name] ?? null
}

describe('every whole reply is judged', () => {
  test.each(wholes)('$vendor/$name', (item) => {
    const { fixture } = item
    const { dialect } = fixture
    const status = fixture.reply.status ?? 200
    const text = bytesOf(fixture)
    if (status >= 400) {
      expectFault(item, vendorOf(dialect).fault(status, headerOf(fixture), text), status, text)
      return
    }
    const encoder = new TextEncoder()
    const peek = clientOf(dialect).peek(
      encoder.encode(JSON.stringify(fixture.request)),
      addressOf(fixture),
    )
    const whole = identityOf(dialect).whole(encoder.encode(text), peek, quirksOf(item.vendor))
    if (fixture.expect.fault !== undefined) {
      expectFault(item, whole.fault, status, text)
      return
    }
    expect(whole.fault).toBeNull()
    expect(kindsOf(whole.usage)).toEqual(fixture.expect.usage ?? null)
    if (fixture.expect.vectors !== undefined) expectVectors(fixture, whole.bytes)
  })
})

/** A form of embeddings or reranking that only vendors use. */
function isListOnly({ dialect }: Fixture): boolean {
  return dialectOf(dialect).vendor?.list !== undefined && dialect !== 'openai-embeddings'
}

const lists = cases.filter(
  ({ fixture }) => isListOnly(fixture) && fixture.expect.fault === undefined,
)

describe('every list is asked for and read in the form of its vendor', () => {
  test.each(lists)('$vendor/$name', ({ fixture }) => {
    const list = vendorList(fixture.dialect)
    const request: ListRequest = {
      model: 'public',
      texts: ['sunny', 'rainy'],
      ...(typeof fixture.request['query'] === 'string' && { query: fixture.request['query'] }),
    }
    expect(list.encodeRequest(request, fixture.model).value).toEqual(fixture.request)
    const { vectors = [], ranking = [], usage = null } = fixture.expect
    const read = list.readReply(fixture.reply.body ?? null, request)
    expect(read).toMatchObject({ vectors, ranking, usage })
  })
})

/** The vectors reach the client in the form it asked for, whatever the vendor sent. */
function expectVectors(fixture: Fixture, bytes: Uint8Array): void {
  const reply = JSON.parse(new TextDecoder().decode(bytes)) as { data: { embedding: unknown }[] }
  const vectors = reply.data.map(({ embedding }) => {
    if (typeof embedding !== 'string') return embedding as number[]
    const packed = Buffer.from(embedding, 'base64')
    return Array.from({ length: packed.length / 4 }, (_, at) => packed.readFloatLE(at * 4))
  })
  expect(vectors).toEqual((fixture.expect.vectors ?? []) as number[][])
  const asked = fixture.request.encoding_format === 'base64' ? 'string' : 'object'
  for (const { embedding } of reply.data) expect(typeof embedding).toBe(asked)
}
