// A gateway with prices and a wallet in front of a scripted realtime vendor; at the end its books are checked.

import { expect } from 'bun:test'
import type { UsageRow } from '../../src/store/usage-row.ts'
import { eventually } from '../support/clients.ts'
import {
  type Deployment,
  deploy,
  expectBalances,
  expectCleanAudit,
  keyOf,
} from '../support/deployment.ts'
import { billed } from '../support/price-oracle.ts'
import { RealtimeClient, type RealtimeVendor } from '../support/realtime.ts'
import type { ServerProcess } from '../support/server-process.ts'

const prices = {
  input: '4',
  output: '16',
  audioInput: '32',
  audioOutput: '64',
  cachedInput: '0.4',
  imageInput: '5',
  cachedAudio: '0.3',
}
const bySecond = { second: '100' }
const byToken = { input: '2.5', output: '10', audioInput: '6' }
/** One token of speech. */
export const spokenNano = 64_000n
/** The cost of the vendor's usual usage. */
export const usualNano = 897_600n

export interface Stage extends AsyncDisposable {
  readonly deployment: Deployment
  readonly server: ServerProcess
  open(account?: string): Promise<RealtimeClient>
  /** Waits until there are this many records; oldest first. */
  rows(count: number): Promise<readonly UsageRow[]>
}

/** At the end nothing is held, the books agree, and each record equals the cost of its tokens. */
export async function onStage(
  vendor: RealtimeVendor,
  credit: string,
  config: Readonly<Record<string, unknown>> = {},
): Promise<Stage> {
  const deployment = await deploy({
    databaseUrl: null,
    credits: { acme: credit },
    config: {
      channels: [
        {
          id: 'main',
          vendor: 'openai',
          baseUrl: vendor.url,
          key: 'sk-up-0123456789',
          models: ['gpt-realtime', 'whisper-1', 'gpt-4o-transcribe'],
        },
      ],
      models: {
        'gpt-realtime': { kind: 'realtime', prices },
        'whisper-1': { kind: 'transcription', prices: bySecond },
        'gpt-4o-transcribe': { kind: 'transcription', prices: byToken },
      },
      ...config,
    },
  })
  const server = await deployment.start()
  const clients: RealtimeClient[] = []
  const list = async () => (await deployment.store.usage.list({ limit: 1_000 })).toSorted(inOrder)
  return {
    deployment,
    server,
    async open(account = 'acme') {
      const client = await RealtimeClient.open(server.url, { key: keyOf(account) })
      clients.push(client)
      return client
    },
    rows: (count) =>
      eventually(async () => {
        const found = await list()
        return found.length >= count ? found : undefined
      }),
    async [Symbol.asyncDispose]() {
      for (const client of clients) if (client.received.closed === null) await client.leave()
      const nano = BigInt(Math.round(Number(credit) * 1e9))
      await eventually(async () => {
        const wallet = await deployment.store.journal.wallet('acme')
        return wallet?.heldNano === 0n || undefined
      })
      await expectBalances(deployment, { acme: nano })
      await expectCleanAudit(deployment)
      for (const row of await list()) expectPriced(row)
      expect(server.stderr).not.toContain('internal error:')
      await deployment.remove()
    },
  }
}

/** By arithmetic that shares no code with the meter. */
function expectPriced(row: UsageRow): void {
  const own = { 'whisper-1': bySecond, 'gpt-4o-transcribe': byToken }[row.modelAsked] ?? prices
  const due =
    row.multiplierPpm === 0
      ? 0n
      : billed({
          prices: own,
          multiplier: '1',
          tokens: { ...row } as unknown as Record<string, number>,
          ...(row.units !== null && { units: row.units }),
        })
  expect([row.requestId, row.chargeNano + row.writeoffNano]).toEqual([row.requestId, due])
}

/** In the order in which they were made: two of a session may have the same millisecond. */
function inOrder(one: UsageRow, other: UsageRow): number {
  const [first, second] = [one, other].map(({ requestId }) => Number(requestId.split('-')[1] ?? 1))
  return one.at - other.at || (first ?? 1) - (second ?? 1)
}
