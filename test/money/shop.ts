// A gateway with prices and wallets in front of scripted vendors: the cost of a request is read from the store, and the
// books are checked.

import { expect } from 'bun:test'
import { createPriceBook } from '../../src/meter/price-book.ts'
import type { Wallet } from '../../src/store/ledger.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import type { UsageRow } from '../../src/store/usage-row.ts'
import { authorized, eventually } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { billed } from '../support/price-oracle.ts'
import { chatBody, request, type Seen } from '../support/scene.ts'
import { portOf, post, RawClient } from '../support/socket.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

type Section = Readonly<Record<string, unknown>>

/** The cost of a token at these prices, in nano-units. */
export const inputNano = 1_000_000n
export const outputNano = 2_000_000n
export const unitNano = 1_000_000_000n

export interface ShopOptions {
  /** The account's initial money, in the currency; a million unless set. */
  readonly credit?: string
  readonly billing?: Section
  readonly ledger?: Section
  readonly server?: Section
  readonly timeouts?: Section
  readonly groups?: Section
  readonly models?: Section
  readonly accounts?: Section
  readonly keys?: readonly Section[]
  readonly retry?: Section
  readonly logLevel?: string
}

export interface Shop extends AsyncDisposable {
  readonly gateway: Gateway
  /** Always called first; `second` only if it cannot serve. */
  readonly first: Upstream
  readonly second: Upstream
  chat(more?: Section, headers?: Readonly<Record<string, string>>): Promise<Seen>
  stream(more?: Section, headers?: Readonly<Record<string, string>>): Promise<Seen>
  /** A chat request on a bare socket, for clients that disconnect. */
  client(more: Section): Promise<RawClient>
  /** The record of the only request for this model; waits for it. */
  rowOf(model: string): Promise<UsageRow>
  wallet(account?: string): Promise<Wallet>
  withStore<Result>(work: (store: Store) => Promise<Result>): Promise<Result>
  /** Waits until nothing is held, then checks every row and balance against the journal and the formula. */
  checkBooks(): Promise<void>
}

/** Prompt tokens as the gateway counts them if no vendor did. */
export function countedInput(body: Section): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(body)) / 4)
}

export function bodyOf(more: Section = {}): Section {
  return { ...chatBody, ...more }
}

/** At the end the books are checked. */
export async function openShop(options: ShopOptions = {}): Promise<Shop> {
  const first = await startUpstream()
  const second = await startUpstream()
  const gateway = await startGateway({
    config: configOf(options, first, second),
    env: { LOG_LEVEL: options.logLevel ?? 'warn' },
  })
  return new RunningShop(gateway, first, second)
}

function configOf(options: ShopOptions, first: Upstream, second: Upstream): Section {
  const { credit = '1000000', models = {}, accounts = {}, logLevel, ...sections } = options
  const channel = { vendor: 'openai-compatible', models: ['m*'] }
  return {
    ...sections,
    channels: [
      { ...channel, id: 'first', baseUrl: first.url },
      // Weight 0: only if no other is left.
      { ...channel, id: 'second', baseUrl: second.url, weight: 0 },
    ],
    models: { 'm*': { prices: { input: '1000', output: '2000' } }, ...models },
    accounts: { default: { credit }, ...accounts },
  }
}

class RunningShop implements Shop {
  readonly gateway: Gateway
  readonly first: Upstream
  readonly second: Upstream

  constructor(gateway: Gateway, first: Upstream, second: Upstream) {
    this.gateway = gateway
    this.first = first
    this.second = second
  }

  chat(more: Section = {}, headers?: Readonly<Record<string, string>>): Promise<Seen> {
    return request(this.gateway, bodyOf(more), undefined, headers)
  }

  stream(more: Section = {}, headers?: Readonly<Record<string, string>>): Promise<Seen> {
    return this.chat({ stream: true, ...more }, headers)
  }

  async client(more: Section): Promise<RawClient> {
    const client = await RawClient.open(portOf(this.gateway.url))
    client.send(post('/v1/chat/completions', authorized(), JSON.stringify(bodyOf(more))))
    return client
  }

  rowOf(model: string): Promise<UsageRow> {
    return eventually(async () =>
      (await this.gateway.usage()).find(({ modelAsked }) => modelAsked === model),
    )
  }

  wallet(account = 'default'): Promise<Wallet> {
    return this.withStore(async (store) => {
      const wallet = await store.journal.wallet(account)
      if (wallet === null) throw new Error(`no wallet of ${account}`)
      return wallet
    })
  }

  async withStore<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
    const store = await openStore({ dataDir: this.gateway.dataDir, databaseUrl: null })
    try {
      return await work(store)
    } finally {
      await store.close()
    }
  }

  async checkBooks(): Promise<void> {
    await this.withStore(async (store) => {
      await eventually(async () => (await isIdle(store)) || undefined)
      await checkRows(store)
      const report = await store.audit.run((cards) => {
        const book = createPriceBook(cards)
        return ({ priceVersion, multiplierPpm, units, ...row }) =>
          book.version(priceVersion ?? 0, multiplierPpm)?.charge(row, units) ?? null
      })
      expect(report.findings).toEqual([])
      expect(report.setAside).toBe(0)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.checkBooks()
      expect(this.gateway.stderr).not.toContain('internal error:')
    } finally {
      await this.gateway.stop()
      await Promise.all([this.first.close(), this.second.close()])
    }
  }
}

async function isIdle(store: Store): Promise<boolean> {
  return (await store.journal.wallets()).every(({ heldNano }) => heldNano === 0n)
}

/** Each row against its own card by arithmetic that shares no code with the meter. */
async function checkRows(store: Store): Promise<void> {
  const cards = await store.prices.all()
  for (const row of await store.usage.list({ limit: 1_000 })) {
    const { requestId, multiplierPpm, units, chargeNano, writeoffNano } = row
    const prices = cards.find(({ version }) => version === row.priceVersion)?.prices ?? {}
    const expected = billed({
      prices,
      multiplier: String(multiplierPpm / 1_000_000),
      tokens: { ...row } as unknown as Record<string, number>,
      ...(units !== null && { units }),
    })
    expect({ requestId, total: chargeNano + writeoffNano }).toEqual({ requestId, total: expected })
  }
}
