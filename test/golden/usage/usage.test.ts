// Compares how each vendor's replies are read, and what they cost under one card, with recorded figures.

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { tokenPrices } from '../../../src/config/prices.ts'
import { endpoints } from '../../../src/http/endpoints.ts'
import { compileRate, multiplierPpm } from '../../../src/meter/rate.ts'
import { vendors } from '../../../src/vendors/registry.ts'
import { call } from '../../../src/vendors/sandbox/testing.ts'
import { dialects } from '../../../src/wire/dialects.ts'
import type { ChatEvent, JsonObject, Usage } from '../../../src/wire/ir.ts'
import { isFault } from '../../../src/wire/list/fields.ts'
import type { ListRequest } from '../../../src/wire/list/list.ts'
import { frameKind, type ReplyQuirks } from '../../../src/wire/reply.ts'
import { clientOf, dialectOf, identityOf, vendorOf } from '../../support/dialects.ts'
import { addressOf, bytesOf, casesOf, type Fixture } from '../../support/fixtures.ts'
import { billed } from '../../support/price-oracle.ts'

interface Charge {
  /** `vendor/name` of the fixture. */
  readonly fixture: string
  readonly tokens: Usage
  /** In nano-units. */
  readonly charge: string
}

interface Charges {
  readonly prices: Readonly<Record<string, string>>
  readonly multiplier: string
  readonly charges: readonly Charge[]
}

const golden: Charges = JSON.parse(readFileSync(`${import.meta.dir}/charges.json`, 'utf8'))
const { prices, multiplier } = golden
const rate = compileRate({ model: 'm', version: 1, prices }, multiplierPpm(multiplier))
const encoder = new TextEncoder()

const cases = Object.keys(vendors)
  .flatMap(casesOf)
  .filter(({ fixture }) => fixture.expect.usage !== undefined)
  .map((item) => ({ ...item, id: `${item.vendor}/${item.name}` }))

function quirksOf(vendor: string): ReplyQuirks {
  return vendors[vendor]?.quirks ?? {}
}

/** As the path that passes bytes through reads it. */
function passedThrough(vendor: string, fixture: Fixture, reply: string): Usage | null {
  const { dialect } = fixture
  const address = addressOf(fixture)
  if ((address.stream ?? fixture.request.stream) !== true) {
    const peek = clientOf(dialect).peek(encoder.encode(JSON.stringify(fixture.request)), address)
    return identityOf(dialect).whole(encoder.encode(reply), peek, quirksOf(vendor)).usage
  }
  const watcher = identityOf(dialect).watcher({ wantsUsage: true, quirks: quirksOf(vendor) })
  for (const frame of reply.split(/(?<=\n\n)/)) {
    const bytes = encoder.encode(frame)
    if (watcher.frame(bytes, 0, bytes.length) === frameKind.usage) {
      watcher.amend(bytes, 0, bytes.length)
    }
  }
  return watcher.usage
}

/** Whether there are clients of this format, to whom bytes are passed through. */
function isServed({ dialect }: Fixture): boolean {
  const { client, vendor, operation } = dialectOf(dialect)
  if (vendor?.list !== undefined) return dialect === 'openai-embeddings'
  const isListed = endpoints.some(({ path }) => path === client?.path)
  return operation !== 'chat' || isListed || dialect === 'gemini'
}

/** As the path for lists reads it. */
function listed({ dialect, reply }: Fixture): Usage | null {
  const request: ListRequest = { model: 'm', texts: ['sunny', 'rainy'] }
  const read = vendorOf(dialect).list?.readReply(structuredClone(reply.body ?? null), request)
  return read === undefined || isFault(read) ? null : read.usage
}

/** As the path by events reads it; null if the dialect has none. */
function translated(vendor: string, { dialect, reply }: Fixture): Usage | null {
  const { hub } = vendorOf(dialect)
  if (hub === undefined) return null
  let events: readonly ChatEvent[]
  if (reply.stream === undefined) {
    events = hub.readWhole(structuredClone(reply.body ?? null), quirksOf(vendor))
  } else {
    const reader = hub.reader(quirksOf(vendor))
    events = [...reply.stream.flatMap((data) => reader.frame(data)), ...reader.end()]
  }
  return events.findLast((event) => event.type === 'usage')?.usage ?? null
}

/** Only the kinds of token: a kind without tokens is missing in some readings and 0 in others. */
function counted(usage: Usage | null): Record<string, number> {
  const counts = tokenPrices.map((kind) => [kind, usage?.[kind] ?? 0] as const)
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

test('every fixture that reports usage has a figure, and every figure a fixture', () => {
  const written = golden.charges.map(({ fixture }) => fixture)
  expect(written.toSorted()).toEqual(cases.map(({ id }) => id).toSorted())
})

describe.each(cases)('$id', ({ id, vendor, fixture }) => {
  const { tokens, charge } = golden.charges.find((one) => one.fixture === id) ?? {
    tokens: null,
    charge: '',
  }

  test('B14: is read as the kinds written down, by every path', () => {
    // The bytes of such a vendor are not passed through in this dialect.
    const rewritten = fixture.dialect === 'openai-chat' && quirksOf(vendor).rewrite === true
    if (!rewritten && isServed(fixture)) {
      expect(counted(passedThrough(vendor, fixture, bytesOf(fixture)))).toEqual(counted(tokens))
    }
    if (vendorOf(fixture.dialect).list !== undefined) {
      expect(counted(listed(fixture))).toEqual(counted(tokens))
    }
    if (vendorOf(fixture.dialect).hub !== undefined) {
      expect(counted(translated(vendor, fixture))).toEqual(counted(tokens))
    }
  })

  test('I8: costs what is written down, which is what the oracle says', () => {
    if (tokens === null) throw new Error('nothing is written down')
    expect(String(rate.charge(tokens, null))).toBe(charge)
    expect(String(billed({ prices, multiplier, tokens: { ...tokens } }))).toBe(charge)
  })
})

describe('streamed or whole, a reply of one size costs the same', () => {
  const byId = new Map(golden.charges.map((one) => [one.fixture, one]))
  const pairs = golden.charges.flatMap((streamed) => {
    const whole = byId.get(streamed.fixture.replace(/-stream$/, ''))
    // The sandbox's fixtures are of two prompts; below, it answers one prompt both ways.
    if (whole === undefined || whole === streamed || whole.fixture.startsWith('sandbox/')) return []
    return [{ name: whole.fixture, streamed, whole }]
  })

  test('for every vendor', () => {
    const paired = new Set(pairs.map(({ name }) => name.split('/')[0] ?? ''))
    const chats = Object.keys(vendors).filter((id) =>
      vendors[id]?.speaks.some((each) => dialects[each].operation === 'chat'),
    )
    expect([...paired, 'sandbox'].toSorted()).toEqual(chats.toSorted())
  })

  test.each(pairs)('$name', ({ streamed, whole }) => {
    expect(streamed.charge).toBe(whole.charge)
  })

  test('sandbox', async () => {
    const answer = async (more: JsonObject): Promise<bigint> => {
      const messages = [{ role: 'user', content: 'Hello out there' }]
      const request = { model: 'sandbox/chat', messages, ...more }
      const { text } = await call('openai-chat', request)
      const asked: Fixture = {
        source: 'recorded',
        from: 'the sandbox',
        dialect: 'openai-chat',
        model: 'sandbox/chat',
        request,
        reply: {},
        expect: {},
      }
      const usage = passedThrough('sandbox', asked, text)
      if (usage === null) throw new Error('the sandbox reported no usage')
      return rate.charge(usage, null)
    }
    const whole = await answer({})
    expect(whole > 0n).toBe(true)
    expect(await answer({ stream: true, stream_options: { include_usage: true } })).toBe(whole)
  })
})
