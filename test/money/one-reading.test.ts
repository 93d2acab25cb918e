// Tests that a vendor never reads more from a request than was held for it, whichever JSON reader it has: all client
// formats with all text vendors, on the identity path and on the translated one.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../src/errors.ts'
import { expectedOf } from '../../src/meter/ceiling.ts'
import { createChannel } from '../../src/relay/channel.ts'
import type { RelayRequest, RelayRooms } from '../../src/relay/request.ts'
import { prepare } from '../../src/relay/send.ts'
import { decodedRequestOf } from '../../src/relay/translate.ts'
import type { Candidate } from '../../src/router/route.ts'
import { vendors } from '../../src/vendors/registry.ts'
import { dialects } from '../../src/wire/dialects.ts'
import type { DialectId } from '../../src/wire/formats.ts'
import type { Address, Peek } from '../../src/wire/request.ts'
import { blind, first, last, type Node, objectsIn, parsed, type Reader } from './readers.ts'

const clients = [
  'openai-chat',
  'openai-completions',
  'openai-responses',
  'anthropic-messages',
  'gemini',
] as const
type Client = (typeof clients)[number]
const spoken: readonly DialectId[] = [...clients, 'cohere-v2', 'bedrock-converse']

/** The most that a model may write without a limit; every limit below is less. */
const mostTokens = 200_000
const vendorModel = 'vendor-model'

/** Each client format with each vendor format, if a request can be translated between them. */
const ways = clients.flatMap((client) =>
  Object.values(vendors).flatMap((vendor) =>
    vendor.speaks
      .filter((dialect) => spoken.includes(dialect))
      .map((dialect) => ({ client, vendor, dialect })),
  ),
)
const names = ways.map(({ client, vendor, dialect }) => `${client} > ${vendor.id} (${dialect})`)

const limitNames = [
  ...['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'max_new_tokens'],
  ...['n_predict', 'num_predict', 'maxOutputTokens', 'maxTokens', 'max_length'],
]
/** Not bounds, but lengths that are reached. */
const leastNames = ['min_tokens', 'minTokens', 'thinking_budget']
const countNames = ['n', 'best_of', 'candidateCount', 'num_return_sequences']
const settingsNames = ['options', 'parameters', 'extra_body', 'generationConfig', 'inferenceConfig']
const tierNames = ['service_tier', 'serviceTier', 'speed']
const dearTiers = ['priority', 'fast', 'scale']

const values = fc.constantFrom('1', '7', '4000', '100000', '4000', '0', '"4000"', 'null', '-1')
const limit = fc.tuple(fc.constantFrom(...limitNames, ...leastNames), values)
const count = fc.tuple(fc.constantFrom(...countNames), fc.constantFrom('1', '2', '3'))
const tier = fc.tuple(
  fc.constantFrom(...tierNames),
  fc.constantFrom('"priority"', '"fast"', '"default"', '"auto"', '1', '{"type":"priority"}'),
)
const other = fc.tuple(
  fc.constantFrom('model', 'models', 'stream', 'x', 'a"b', 'metadata'),
  fc.constantFrom('"dear"', 'true', 'false', '["dear"]', '{"Model":"x","model":"y"}'),
)
const plain = fc.oneof(
  { weight: 5, arbitrary: limit },
  { weight: 2, arbitrary: count },
  tier,
  other,
)
const nested = fc
  .tuple(fc.constantFrom(...settingsNames), fc.array(fc.oneof(limit, count), { maxLength: 2 }))
  .map(([name, inside]): [string, string] => [
    name,
    `{${inside.map(([key, value]) => `"${key}":${value}`).join(',')}}`,
  ])

/** A name as a client may write it: mostly as it is. */
const spelling = fc.constantFrom<(name: string) => string>(
  ...Array<typeof JSON.stringify>(9).fill(JSON.stringify),
  (name) => JSON.stringify(name.toUpperCase()),
  (name) => JSON.stringify(name.charAt(0).toUpperCase() + name.slice(1)),
  (name) => JSON.stringify(name.replace('k', '\u212a').replace('s', '\u017f')),
  (name) =>
    `"\\u00${name.charCodeAt(0).toString(16).padStart(2, '0')}${JSON.stringify(name.slice(1)).slice(1)}`,
)
const member = fc
  .tuple(fc.oneof({ weight: 4, arbitrary: plain }, nested), spelling)
  .map(([[name, value], spell]) => `${spell(name)}:${value}`)

const needed: Readonly<Record<Client, readonly string[]>> = {
  'openai-chat': ['"model":"cheap"', '"messages":[{"role":"user","content":"hi"}]'],
  'openai-completions': ['"model":"cheap"', '"prompt":"hi"'],
  'openai-responses': ['"model":"cheap"', '"input":"hi"', '"store":false'],
  'anthropic-messages': ['"model":"cheap"', '"messages":[{"role":"user","content":"hi"}]'],
  gemini: ['"contents":[{"role":"user","parts":[{"text":"hi"}]}]'],
}
/** The format's own limit, usually present. */
const ownLimit: Readonly<Record<Client, string>> = {
  'openai-chat': '"max_tokens":7',
  'openai-completions': '"max_tokens":7',
  'openai-responses': '"max_output_tokens":7',
  'anthropic-messages': '"max_tokens":7',
  gemini: '"generationConfig":{"maxOutputTokens":7}',
}

const request = fc
  .tuple(fc.nat(ways.length - 1), fc.array(member, { maxLength: 3 }), fc.nat(), fc.boolean())
  .map(([at, odd, seed, bounded]) => {
    const way = ways[at % ways.length] ?? null
    const own = way === null || !bounded ? [] : [ownLimit[way.client]]
    const members = [...odd, ...own, ...(way === null ? [] : needed[way.client])]
    // Any of them may come first.
    const turn = seed % members.length
    return {
      name: names[at] ?? '',
      text: `{${[...members.slice(turn), ...members.slice(0, turn)].join(',')}}`,
    }
  })

interface Sent {
  readonly peek: Peek
  readonly body: Node
  readonly dropped: readonly string[]
}

/** The request to the vendor; null if it is refused. */
function sent(way: (typeof ways)[number], text: string): Sent | null {
  const dialect = dialects[way.client]
  const address: Address = way.client === 'gemini' ? { model: 'cheap', stream: false } : {}
  const config = { models: null, groups: null, priority: 0, weight: 1, disabled: false }
  const channel = createChannel(
    {
      ...{ ...config, dialect: null, timeouts: {}, options: {}, origin: 'file', id: 'c' },
      ...{ vendor: way.vendor.id, baseUrl: 'http://127.0.0.1:9/v1', key: 'a-vendor-key-0123456' },
    },
    way.vendor,
  )
  const candidate: Candidate = {
    ...{ channelId: 'c', model: vendorModel, priority: 0, weight: 1 },
    dialect: way.dialect,
    identity: way.dialect === way.client,
  }
  const retry = { maxAttempts: 1, retryUncertain: true }
  const rooms = { channels: new Map([['c', channel]]), dialects, retry, timeouts: {} }
  try {
    const peek = dialect.client.peek(Buffer.from(text), address)
    const caller = { address: null, requestId: null, traceparent: null }
    const ask = {
      dialect,
      peek,
      address,
      caller,
      model: { timeouts: {} },
    } as unknown as RelayRequest
    const made = prepare(rooms as unknown as RelayRooms, ask, candidate, {
      decoded: () => decodedRequestOf(ask),
    })
    if (made instanceof Promise) throw new Error('nothing is to be fetched here')
    const bytes = made.segments.map((each) => {
      if (!(each instanceof Uint8Array)) throw new Error('no file was given')
      return each
    })
    return { peek, body: parsed(Buffer.concat(bytes).toString()), dropped: made.plan.dropped }
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'invalid_request_error') return null
    throw error
  }
}

const googleNames = ['maxOutputTokens', 'max_output_tokens', 'candidateCount', 'candidate_count']

/** Google reads only its own object; each of the others has a reader. */
function numbers(
  dialect: DialectId,
  body: Node,
  read: Reader,
  wanted: readonly string[],
): number[] {
  const objects =
    dialect === 'gemini'
      ? ['generationConfig', 'generation_config'].map((name) => read(body, name) ?? null)
      : objectsIn(body, settingsNames, read)
  return objects.flatMap((object) =>
    (dialect === 'gemini' ? wanted.filter((name) => googleNames.includes(name)) : wanted)
      .map((name) => read(object, name))
      .filter((value) => typeof value === 'number' || typeof value === 'string')
      .map(Number),
  )
}

test('no vendor reads more of a request than was held for it', () => {
  const seen = { passed: 0, refused: 0, bounded: 0, cut: 0 }
  fc.assert(
    fc.property(request, ({ name, text }) => {
      const way = ways[names.indexOf(name)]
      if (way === undefined) throw new Error(`no way ${name}`)
      const out = sent(way, text)
      if (out === null) {
        seen.refused++
        return
      }
      seen.passed++
      if (out.dropped.length > 0) seen.cut++
      const { peek, body } = out
      const held = expectedOf({
        ...{ kind: 'chat', peek, usualOutputTokens: 1, safe: false, units: null, media: null },
        model: { context: null, maxOutput: mostTokens },
      })
      for (const read of [first, last, blind]) {
        const limits = numbers(way.dialect, body, read, limitNames)
        const counts = numbers(way.dialect, body, read, countNames)
        const least = Math.max(0, ...numbers(way.dialect, body, read, leastNames))
        // No limit, 0 and less: as much as the model writes.
        const free = limits.length === 0 || limits.some((each) => each <= 0)
        const tokens = (free ? mostTokens : Math.max(least, ...limits)) * Math.max(1, ...counts)
        if (limits.length > 0) seen.bounded++
        if (!peek.stream) expect(held.outputTokens).toBeGreaterThanOrEqual(tokens)
        expect([undefined, null, vendorModel]).toContain(read(body, 'model') as string)
        if (way.dialect !== 'gemini') expect(read(body, 'models')).toBeUndefined()
        if (way.dialect !== 'gemini' && way.dialect !== 'bedrock-converse')
          expect(read(body, 'stream') === true).toBe(peek.stream)
        for (const tierName of way.dialect === 'gemini' ? tierNames.slice(0, 2) : tierNames) {
          const asked = JSON.stringify(read(body, tierName) ?? '')
          for (const dear of dearTiers) expect(asked).not.toContain(dear)
        }
      }
    }),
    { numRuns: 4_000 },
  )
  // The property does not hold merely because everything is refused.
  expect(seen.passed).toBeGreaterThan(1_000)
  expect(seen.refused).toBeGreaterThan(500)
  expect(seen.bounded).toBeGreaterThan(1_000)
  expect(seen.cut).toBeGreaterThan(20)
})

test('what may be thought beside the limit is held for besides', () => {
  const way = ways.find(
    ({ client, vendor }) => client === 'openai-chat' && vendor.id === 'dashscope',
  )
  if (way === undefined) throw new Error('no such way')
  const fields = ['"max_tokens":7', '"extra_body":{"thinking_budget":4000}', '"n":2']
  const out = sent(way, `{${[...needed['openai-chat'], ...fields].join(',')}}`)
  if (out === null) throw new Error('refused')
  const model = { context: null, maxOutput: mostTokens }
  const bounds = { usualOutputTokens: 1, safe: false, units: null, media: null, model }
  const held = expectedOf({ kind: 'chat', peek: out.peek, ...bounds })
  expect(held.outputTokens).toBe(2 * 4_007)
})

function settingsOf(body: Node): Node {
  return last(body, 'generationConfig') ?? last(body, 'inferenceConfig') ?? body
}

test.each(ways)('a limit arrives as one: $client > $vendor.id ($dialect)', (way) => {
  const own = ownLimit[way.client]
  const out = sent(way, `{${[...needed[way.client], own].join(',')}}`)
  expect(out?.peek.maxOutputTokens).toBe(7)
  const config = settingsOf(out?.body ?? null)
  const values = limitNames.map((name) => last(config, name))
  expect(values.filter((value) => value !== undefined)).toEqual([7])
})
