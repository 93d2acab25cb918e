// One call of the relay with a vendor that the test plays: every byte, pause and answer of the ledger comes when the
// test says.

import { Buffer } from 'node:buffer'
import { Authorization } from '../../src/billing/authorization.ts'
import { fileSchema } from '../../src/config/schema.ts'
import type { BillingSettings, TimeoutSettings } from '../../src/config/types.ts'
import type { Finished, Hold, Ledger } from '../../src/ledger/ledger.ts'
import { createLocalLimiter } from '../../src/limits/local.ts'
import { compileRate } from '../../src/meter/rate.ts'
import { Call } from '../../src/relay/call.ts'
import type { Channel } from '../../src/relay/channel.ts'
import { Deadlines } from '../../src/relay/deadlines.ts'
import type { Drains, RelayRequest, RelayRooms } from '../../src/relay/request.ts'
import type { UsageRow } from '../../src/store/usage-row.ts'
import { vendors } from '../../src/vendors/registry.ts'
import type { ReplyHandler } from '../../src/vendors/transport.ts'
import { dialects } from '../../src/wire/dialects.ts'

const defaults = fileSchema.parse({})

/** A running call, from all its sides. */
export interface Line {
  readonly call: Call
  /** The vendor's side. */
  readonly vendor: {
    head(stream: boolean): void
    send(text: string): void
    end(): void
    readonly paused: boolean
    readonly aborted: boolean
  }
  /** What the client gets; rejects if it is broken off. */
  readonly reply: Promise<string>
  /** Begins to read the reply. */
  take(): void
  /** Requests to the ledger to extend the hold, in order. */
  readonly asked: bigint[]
  /** Records, and the costs noted on the way. */
  readonly rows: UsageRow[]
  readonly progress: UsageRow[]
}

export interface LineOptions {
  readonly stream?: boolean
  readonly billing?: Partial<BillingSettings>
  readonly drains?: Drains
  /** The initial hold. */
  readonly heldNano?: bigint
  readonly timeouts?: Partial<TimeoutSettings>
  /** Writing down the record fails. */
  readonly fails?: true
  extend?(byNano: bigint): boolean | Promise<boolean>
}

class HandVendor {
  paused = false
  aborted = false
  handler: ReplyHandler | null = null

  open(handler: ReplyHandler) {
    this.handler = handler
    return {
      pause: () => {
        this.paused = true
      },
      resume: () => {
        this.paused = false
      },
      abort: () => {
        this.aborted = true
      },
    }
  }

  head(stream: boolean): void {
    const type = stream ? 'text/event-stream' : 'application/json'
    this.handler?.head(200, (name) => (name === 'content-type' ? type : null))
  }

  send(text: string): void {
    this.handler?.bytes(Buffer.from(text))
  }

  end(): void {
    this.handler?.end()
  }
}

const alwaysWell: RelayRooms['health'] = {
  usable: () => true,
  blocked: () => null,
  mayRetry: () => true,
  begin: () => undefined,
  report: () => undefined,
  waitMs: () => 0,
  state: () => 0,
}

const prices = { input: '1000', output: '2000' }
const rate = compileRate({ model: 'm', version: 1, prices }, 1_000_000)

/** A call whose vendor was called and has not answered yet. */
export function openLine(options: LineOptions = {}): Line {
  const { stream = true, extend = () => true, heldNano = 0n, fails = false } = options
  const vendor = new HandVendor()
  const billing = { ...defaults.billing, ...options.billing }
  const asked: bigint[] = []
  const rows: UsageRow[] = []
  const progress: UsageRow[] = []
  const hold = { account: 'a', keyId: 'k', amountNano: heldNano }
  const uncounted = { inputTokens: 10, imageTokens: 0, audioTokens: 0, speaks: false }
  const authorization = new Authorization(
    { ledger: ledgerOf(hold, asked, extend, { rows, progress, fails }), policies: billing },
    rate,
    hold,
    null,
    uncounted,
    {
      capNano: null,
      showCost: false,
      idempotencyKey: null,
    },
  )
  const channel = channelOf(vendor)
  const call = new Call(
    {
      ...roomsOf(channel, options.drains ?? { running: 0, most: 64, limitMs: 30_000 }),
      timeouts: { ...defaults.timeouts, ...options.timeouts },
    },
    askOf(stream, authorization),
  )
  const taking = Promise.withResolvers<void>()
  const reply = readReply(call, taking.promise)
  // A test that ignores it must still see no unhandled rejection.
  reply.catch(() => undefined)
  return { call, vendor, reply, take: taking.resolve, asked, rows, progress }
}

async function readReply(call: Call, taking: Promise<void>): Promise<string> {
  const { body } = await call.run()
  await taking
  if (body instanceof Uint8Array) return Buffer.from(body).toString()
  let text = ''
  const write = (bytes: Uint8Array) => {
    text += Buffer.from(bytes).toString()
    return bytes.length
  }
  await body.pipe({ write, end: () => undefined })
  return text
}

function ledgerOf(
  hold: { amountNano: bigint },
  asked: bigint[],
  extend: (byNano: bigint) => boolean | Promise<boolean>,
  kept: { readonly rows: UsageRow[]; readonly progress: UsageRow[]; readonly fails: boolean },
): Ledger {
  const finish = ({ row }: Finished, then: (() => void) | null) => {
    if (kept.fails) throw new Error('no record can be made')
    kept.rows.push(row)
    then?.()
  }
  const grow = (byNano: bigint, granted: boolean) => {
    if (granted) hold.amountNano += byNano
    return granted
  }
  const only: Omit<Ledger, 'hold' | 'release' | 'closed'> = {
    finish: (_hold, finished, then) => finish(finished, then),
    finishNow: (_hold, finished) => finish(finished, null),
    progress: (_hold, { row }) => kept.progress.push(row),
    extend(_hold: Hold, byNano) {
      asked.push(byNano)
      const said = extend(byNano)
      return said instanceof Promise
        ? said.then((granted) => grow(byNano, granted))
        : grow(byNano, said)
    },
  }
  return only as Ledger
}

function channelOf(vendor: HandVendor): Channel {
  const { 'openai-compatible': compatible } = vendors
  if (compatible === undefined) throw new Error('no vendor for what is compatible')
  return {
    id: 'c',
    tag: 't',
    vendor: { ...compatible, local: { open: (_call, handler) => vendor.open(handler) } },
    timeouts: {},
    secrets: [],
    baseUrl: '',
    reach: undialled,
    address: undialled,
    destination: undialled,
    socket: undialled,
  }
}

const unfetched = () => Promise.reject(new Error('nothing is to be fetched'))

function undialled(): never {
  throw new Error('a vendor by hand has no address')
}

function roomsOf(channel: Channel, drains: Drains) {
  const idle: Pick<RelayRooms, 'dialer' | 'safeFetch' | 'results' | 'observer'> = {
    safeFetch: { fetch: unfetched },
    results: { fetchInto: unfetched, host: unfetched, judge: unfetched },
    dialer: {
      open: () => {
        throw new Error('a vendor by hand is not dialled')
      },
      connections: 0,
      close: () => undefined,
    },
    observer: {
      settled: () => undefined,
      settling: () => undefined,
      attemptFailed: () => undefined,
      unrelayed: () => undefined,
    },
  }
  return {
    ...idle,
    limiter: createLocalLimiter(),
    channels: new Map([['c', channel]]),
    dialects,
    health: alwaysWell,
    deadlines: new Deadlines(),
    timeouts: defaults.timeouts,
    retry: defaults.retry,
    client: { heartbeatMs: 15_000, commitAfterMs: 15_000, writeStallMs: 60_000 },
    drains,
  }
}

function askOf(stream: boolean, authorization: Authorization): RelayRequest {
  const dialect = dialects['openai-chat']
  const body = { model: 'm', stream, messages: [{ role: 'user', content: 'Hello' }] }
  return {
    requestId: 'req-1',
    at: 1_700_000_000_000,
    startedMs: performance.now(),
    dialect,
    peek: dialect.client.peek(Buffer.from(JSON.stringify(body))),
    principal: {
      account: 'a',
      keyId: 'k',
      keyName: 'key',
      group: 'default',
      limits: {},
      models: null,
      showCost: false,
    } as unknown as RelayRequest['principal'],
    caller: { address: '192.0.2.7', requestId: null, traceparent: null, client: null },
    model: { id: 'm', timeouts: {} } as RelayRequest['model'],
    candidates: [
      {
        channelId: 'c',
        model: 'm',
        dialect: 'openai-chat',
        identity: true,
        priority: 0,
        weight: 1,
      },
    ],
    clientSlot: {
      giveBack: () => undefined,
      watchClient: () => undefined,
      cutOff: () => undefined,
    },
    authorization,
  }
}
