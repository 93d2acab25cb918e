// Clients of every kind on a gateway that may die: each remembers what it was promised.

import { expect } from 'bun:test'
import type { UsageRow } from '../../src/store/usage-row.ts'
import { chat, costNano, type Outcome } from '../support/deployment.ts'
import type { ServerProcess } from '../support/server-process.ts'

export interface Seen extends Outcome {
  readonly account: string
  /** The cost of a complete reply; null if the client left before. */
  readonly dueNano: bigint | null
  /** Bytes of content that the client got of a stream. */
  readonly deliveredBytes: number
}

/** The sandbox counts the prompt of `chat` in this way. */
const promptTokens = 6

interface Kind {
  readonly tokens: number
  readonly gapMs: number
  readonly body: Readonly<Record<string, unknown>>
  readonly leavesAfterMs?: number
}

const withUsage = { stream: true, stream_options: { include_usage: true } }
const kinds: readonly Kind[] = [
  { tokens: 12, gapMs: 0, body: {} },
  { tokens: 20, gapMs: 1, body: {} },
  { tokens: 30, gapMs: 1, body: withUsage },
  { tokens: 10, gapMs: 0, body: { stream: true } },
  { tokens: 4_000, gapMs: 1, body: { stream: true } },
  { tokens: 300, gapMs: 1, body: withUsage, leavesAfterMs: 30 },
]

export interface Load {
  readonly seen: readonly Seen[]
  /** No client begins another request; resolves when all have ended. */
  stop(): Promise<void>
}

/**
 * Clients that send requests repeatedly; several of each kind, spread over the accounts, and over `urls` unless
 * specified. `goesOn`: if nobody listens they try again.
 */
export function startLoad(
  urls: readonly string[] | (() => string),
  accounts: readonly string[],
  clients: number,
  { goesOn = false }: { readonly goesOn?: boolean } = {},
): Load {
  const seen: Seen[] = []
  let running = true
  const client = async (index: number) => {
    const kind = kinds[index % kinds.length]
    const account = accounts[index % accounts.length]
    const next = typeof urls === 'function' ? urls : () => urls[index % urls.length]
    while (running) {
      const url = next()
      if (kind === undefined || account === undefined || url === undefined) return
      const outcome = await askOnce(url, account, kind)
      seen.push(outcome)
      // Nobody listens any more.
      if (!goesOn && outcome.status === 0 && outcome.dueNano !== null) return
    }
  }
  const ended = Promise.all(Array.from({ length: clients }, (_, index) => client(index)))
  return {
    seen,
    async stop() {
      running = false
      await ended
    },
  }
}

async function askOnce(url: string, account: string, kind: Kind): Promise<Seen> {
  const model = `sandbox/chat+tokens=${kind.tokens}+gap=${kind.gapMs}`
  const leaves =
    kind.leavesAfterMs === undefined ? undefined : AbortSignal.timeout(kind.leavesAfterMs)
  const outcome = await chat(url, account, { model, ...kind.body }, leaves)
  return {
    ...outcome,
    account,
    // On a busy host the reply may be complete before the client leaves.
    dueNano: leaves === undefined || outcome.whole ? costNano(promptTokens, kind.tokens) : null,
    deliveredBytes: kind.body['stream'] === true ? contentBytes(outcome.text) : 0,
  }
}

/**
 * A stream that lasts longer than any drain, once its first bytes have come; a refusal that says to retry is retried,
 * as happens on a busy host.
 */
export async function startLongStream(
  url: string,
  account: string,
): Promise<{ readonly ended: Promise<Outcome> }> {
  const body = { model: 'sandbox/chat+tokens=20000+gap=50', stream: true }
  for (;;) {
    const { promise: begun, resolve } = Promise.withResolvers<number>()
    const ended = chat(url, account, body, undefined, resolve)
    if ((await begun) !== 503) return { ended }
    await ended
  }
}

function contentBytes(text: string): number {
  let bytes = 0
  for (const [, content = ''] of text.matchAll(/"content":("(?:[^"\\]|\\.)*")/g)) {
    bytes += Buffer.byteLength(JSON.parse(content) as string)
  }
  return bytes
}

/** Until `/readyz` answers 200. */
export async function ready({ url }: ServerProcess): Promise<void> {
  while ((await fetch(`${url}/readyz`)).status !== 200) await Bun.sleep(1)
}

/** Every complete reply is in the books once, at its price. Returns their number. */
export function expectCharged(seen: readonly Seen[], rows: readonly UsageRow[]): number {
  const byId = new Map(rows.map((row) => [row.requestId, row]))
  const answered = seen.filter(({ whole, status }) => whole && status === 200)
  for (const { requestId, dueNano } of answered) {
    const row = byId.get(requestId)
    const paid = row === undefined ? null : row.chargeNano + row.writeoffNano
    expect([requestId, row?.status, paid]).toEqual([requestId, 200, dueNano])
  }
  return answered.length
}
