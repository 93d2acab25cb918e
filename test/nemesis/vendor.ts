// A vendor that follows its format until it is told to break it, clients that call it, and what they must have paid.

import { expect } from 'bun:test'
import type { UsageRow } from '../../src/store/usage-row.ts'
import { pace } from '../support/clients.ts'
import { chat, costNano, type Outcome } from '../support/deployment.ts'
import {
  chatReply,
  chunk,
  delta,
  event,
  hang,
  head,
  json,
  lastChunk,
  type Script,
  send,
  sseHead,
  startUpstream,
  type Turn,
  type Upstream,
  words,
} from '../support/upstream.ts'

/** The fault in which replies end without a record of how much was delivered. */
export const killed = 'a process is killed'
/** The model as its channels request it. */
export const model = 'served'
/** Above what a stream is charged for before its end is known. */
const pieces = Array.from({ length: 12 }, (_, index) => `piece ${index} `)
const content = pieces.join('')

const behaviours = {
  well: (tag: number, isStream: boolean): Script =>
    isStream
      ? [send(Buffer.concat([begun, words(...pieces), endOf(usageOf(tag))]))]
      : [json(200, chatReply(content, { usage: usageOf(tag) }))],
  'without usage': (_: number, isStream: boolean): Script =>
    isStream
      ? [send(Buffer.concat([begun, words(...pieces), endOf(null)]))]
      : [json(200, chatReply(content, { usage: undefined }))],
  'with half a reply': (_: number, isStream: boolean): Script =>
    isStream
      ? [send(Buffer.concat([begun, words(...pieces.slice(0, 6))])), breakOff]
      : [
          send(`${head(200, 'content-type: application/json', 'content-length: 900')}{"id":`),
          breakOff,
        ],
  'with half a reply, and is silent': (_: number, isStream: boolean): Script =>
    isStream ? [send(Buffer.concat([begun, words(...pieces.slice(0, 6))])), hang] : [hang],
  'with more behind its end': (tag: number, isStream: boolean): Script =>
    isStream
      ? [
          send(Buffer.concat([begun, words(...pieces), endOf(usageOf(tag)).subarray(0, -5)])),
          send(Buffer.concat([words('unasked'), chunk('data: {"usage":{"total_tokens":9}}\n\n')])),
          breakOff,
        ]
      : [json(200, chatReply(content, { usage: usageOf(tag) })), send('HTTP/1.1 200 OK\r\n\r\n{}')],
  'by turns 429, 500 and 529': (tag: number): Script => [
    json([429, 500, 529][tag % 3] ?? 500, { error: { message: 'not now', type: 'overloaded' } }),
  ],
} satisfies Readonly<Record<string, (tag: number, isStream: boolean) => Script>>

export type Behaviour = keyof typeof behaviours
export const broken = Object.keys(behaviours).filter((name) => name !== 'well') as Behaviour[]

const begun = Buffer.concat([
  Buffer.from(sseHead),
  event(delta({ role: 'assistant', content: '' })),
])

function endOf(usage: object | null): Buffer {
  const reported = usage === null ? [] : [event({ ...delta({}), choices: [], usage })]
  return Buffer.concat([
    event(delta({}, 'stop')),
    ...reported,
    event('[DONE]'),
    Buffer.from(lastChunk),
  ])
}

function breakOff({ socket }: Turn): void {
  socket.end()
}

/** Different for each request, so that another's report is not mistaken for its own. */
function usageOf(tag: number) {
  const [prompt, completion] = [7 + (tag % 53), 5 + (tag % 31)]
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  }
}

export interface Vendor {
  readonly upstream: Upstream
  behaviour: Behaviour
}

export async function startVendor(): Promise<Vendor> {
  const upstream = await startUpstream()
  const vendor: Vendor = { upstream, behaviour: 'well' }
  upstream.on(model, [
    async (turn) => {
      const body = turn.request.body.toString('utf8')
      const tag = Number(/tag (\d+)/.exec(body)?.[1])
      const isStream = /"stream"\s*:\s*true/.test(body)
      for (const step of behaviours[vendor.behaviour](tag, isStream)) await step(turn)
    },
  ])
  return vendor
}

export interface Asked extends Outcome {
  readonly account: string
  readonly tag: number
  readonly isStream: boolean
  /** The fault that was active when it ended. */
  readonly fault: string
}

export interface VendorLoad {
  readonly asked: readonly Asked[]
  fault: string
  stop(): Promise<void>
}

/** Clients that call it repeatedly, every second one for a stream; a refused one after a pause. */
export function startVendorLoad(
  url: () => string,
  accounts: readonly string[],
  clients: number,
): VendorLoad {
  const asked: Asked[] = []
  let running = true
  let last = 100_000
  const load: VendorLoad = {
    asked,
    fault: 'none yet',
    async stop() {
      running = false
      await ended
    },
  }
  const client = async (index: number) => {
    const account = accounts[index % accounts.length] ?? ''
    const isStream = index % 2 === 0
    while (running) {
      const tag = ++last
      const messages = [{ role: 'user', content: `Hello, tag ${tag}` }]
      const outcome = await chat(url(), account, { model, messages, stream: isStream })
      asked.push({ ...outcome, account, tag, isStream, fault: load.fault })
      if (outcome.status !== 200) await pace(20)
    }
  }
  const ended = Promise.all(Array.from({ length: clients }, (_, index) => client(index)))
  return load
}

export interface VendorTally {
  /** Charged by the vendor's report. */
  readonly reported: number
  /** Charged by counting: the vendor reported nothing. */
  readonly counted: number
  /** Ended in the middle of a reply. */
  readonly cut: number
  readonly refused: number
}

/** Each row of docs/billing.md, How a request ends. Clients that left by themselves are not checked. */
export function expectVendorCharged(
  asked: readonly Asked[],
  rows: readonly UsageRow[],
): VendorTally {
  const byId = new Map(rows.map((row) => [row.requestId, row]))
  const tally = { reported: 0, counted: 0, cut: 0, refused: 0 }
  for (const each of asked) {
    const row = byId.get(each.requestId)
    if (each.status === 0) continue
    if (each.status !== 200) {
      tally.refused += 1
      expect([each.requestId, row?.chargeNano ?? 0n]).toEqual([each.requestId, 0n])
      continue
    }
    const found = row === undefined ? null : { source: row.usageSource, ...tokensAndPrice(row) }
    if (!each.whole) {
      tally.cut += 1
      if (each.text.includes('piece')) expectPaidForPart(each, found)
      continue
    }
    expect(each.text).toContain(each.isStream ? 'piece 11' : content)
    tally[found?.source === 'reported' ? 'reported' : 'counted'] += 1
    expect([each.requestId, found]).toEqual([each.requestId, dueFor(each, found)])
  }
  return tally
}

interface Found {
  readonly source: UsageRow['usageSource']
  readonly input: number
  readonly output: number
  readonly paidNano: bigint
}

function tokensAndPrice({ input, output, chargeNano, writeoffNano }: UsageRow) {
  return { input, output, paidNano: chargeNano + writeoffNano }
}

/**
 * The vendor's own report, or four bytes to a token if it made none; only the bytes of the prompt are taken from the
 * record.
 */
function dueFor({ tag }: Asked, found: Found | null): Found {
  if (found?.source === 'counted') {
    const output = Math.ceil(Buffer.byteLength(content) / 4)
    expect(found.input).toBeGreaterThan(3)
    return { ...found, output, paidNano: costNano(found.input, output) }
  }
  const { prompt_tokens: input, completion_tokens: output } = usageOf(tag)
  return { source: 'reported', input, output, paidNano: costNano(input, output) }
}

/**
 * At least for what the client was given, and at most for the whole. Amounts this small are noted only when the stream
 * ends, which a killed process does not reach.
 */
function expectPaidForPart({ requestId, text, tag, fault }: Asked, found: Found | null): void {
  if (found === null && fault === killed) return
  const given = [...text.matchAll(/piece \d+ /g)].join('').length
  const { completion_tokens: reported } = usageOf(tag)
  const most = Math.max(Math.ceil(Buffer.byteLength(content) / 4), reported)
  const isInOrder =
    found !== null &&
    (found.source === 'reported' || found.output >= Math.floor(given / 4)) &&
    found.output <= most &&
    found.paidNano === costNano(found.input, found.output)
  expect([requestId, fault, found, isInOrder]).toEqual([requestId, fault, found, true])
}
