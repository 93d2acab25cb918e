// Tests every fault of a vendor's stream, for every client format and every vendor format: each stream ends once and
// says why.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { UsageRow } from '../../src/store/usage-row.ts'
import { eventually } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { parsePrometheus } from '../support/prometheus.ts'
import { secrets } from '../support/shared-gateways.ts'
import { type Script, startUpstream, type Turn, type Upstream } from '../support/upstream.ts'
import { type Case, casesOf, words } from './stream-ends/cases.ts'
import { type FormatClient, formatClients } from './stream-ends/clients.ts'
import { type Ending, type Wire, wires } from './stream-ends/wires.ts'

/** Limit in which every stream here must have ended: far above any of its timers. */
const limitMs = 20_000
const together = 48
/** Long enough for a host that stalls for a moment, far below `limitMs`. */
const hastyMs = 1_500
const hasty = {
  firstEventMs: hastyMs,
  idleMs: hastyMs,
  semanticIdleMs: hastyMs,
  replyMs: hastyMs,
}
/** Limit for events that come soon or never: a busy host is slow. */
const patienceMs = 60_000

interface Cell {
  readonly wire: Wire
  readonly client: FormatClient
  readonly played: Case
  readonly model: string
}

/** What the client received. */
interface Seen {
  readonly status: number
  readonly type: string
  readonly text: string
  readonly requestId: string
  /** What the client's own SDK read from it: its text, or its error. */
  readonly sdk: { readonly text: string } | { readonly error: Error } | null
}

/** Vendors of the older format serve only clients of that format. */
const clientsOf = (wire: Wire) =>
  formatClients.filter(
    ({ dialect }) => wire.dialect !== 'openai-completions' || dialect === wire.dialect,
  )

const cells: readonly Cell[] = wires.flatMap((wire) =>
  casesOf(wire).flatMap((played, at) =>
    clientsOf(wire).map((client, from) => {
      const channel = played.isHasty ? 'hasty' : 'patient'
      const name = `${wire.family}-case-${wires.indexOf(wire)}-${at}-${from}`
      return { wire, client, played, model: `${channel}-${wire.dialect}/${name}` }
    }),
  ),
)

let upstream: Upstream
let gateway: Gateway
let replay: Bun.Server<undefined>
const seen = new Map<Cell, Promise<Seen | Error>>()
const rows = new Map<string, UsageRow>()
/** Scripts; those that would never end close their connection at the end. */
const left: Promise<void>[] = []

function channelsOf(wire: Wire) {
  return ['patient', 'hasty'].map((kind) => ({
    id: `${kind}-${wire.dialect}`,
    vendor: wire.vendor,
    dialect: wire.dialect,
    baseUrl: upstream.url,
    key: secrets[0],
    options: wire.vendor === 'bedrock' ? { region: 'us-east-1' } : {},
    models: { [`${kind}-${wire.dialect}/*`]: '*' },
    ...(kind === 'hasty' && { timeouts: hasty }),
  }))
}

/** The script that its model names. */
async function play(turn: Turn): Promise<void> {
  const { target, body } = turn.request
  const found = /-case-(\d+)-(\d+)-\d+/.exec(`${target} ${body.toString('latin1')}`)
  const wire = wires[Number(found?.[1])]
  if (wire === undefined) throw new Error(`no case in ${target}`)
  const played = casesByWire.get(wire)?.[Number(found?.[2])]
  const playing = follow(played?.script ?? [], turn)
  left.push(playing)
  await playing
}

async function follow(script: Script, turn: Turn): Promise<void> {
  for (const step of script) {
    if (turn.socket.destroyed) return
    await step(turn)
  }
}

const casesByWire = new Map(wires.map((wire) => [wire, casesOf(wire)]))

async function ask({ client, model, played: _ }: Cell): Promise<Seen> {
  const response = await gateway.post(client.path(model), client.body(model), {
    signal: AbortSignal.timeout(limitMs),
  })
  const text = await response.text()
  const requestId = response.headers.get('x-request-id') ?? ''
  const type = response.headers.get('content-type') ?? ''
  const had = { status: response.status, type, text, requestId }
  return { ...had, sdk: await madeOf(client, model, had) }
}

const recorded = new Map<string, { status: number; type: string; text: string }>()

/** Serves what the client received to its SDK. */
async function madeOf(
  { sdk }: FormatClient,
  model: string,
  had: { status: number; type: string; text: string },
): Promise<Seen['sdk']> {
  if (sdk === null) return null
  const id = String(recorded.size)
  recorded.set(id, had)
  try {
    return { text: await sdk(`${replay.url.origin}/${id}`, model) }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return { error }
  }
}

function startReplay(): Bun.Server<undefined> {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const [, id = ''] = new URL(request.url).pathname.split('/')
      const had = recorded.get(id)
      if (had === undefined) return new Response(null, { status: 404 })
      return new Response(had.text, {
        status: had.status,
        headers: { 'content-type': had.type, 'x-should-retry': 'false' },
      })
    },
  })
}

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.on('*', [play])
  replay = startReplay()
  gateway = await startGateway({
    config: { channels: wires.flatMap(channelsOf) },
    env: { LOG_LEVEL: 'error' },
  })
  const waiting = [...cells]
  const one = async (): Promise<void> => {
    for (let cell = waiting.shift(); cell !== undefined; cell = waiting.shift()) {
      const asked = ask(cell).catch((error: Error) => error)
      seen.set(cell, asked)
      await asked
    }
  }
  await Promise.all(Array.from({ length: together }, one))
  await eventually(
    async () => ((await gateway.usage()).length >= cells.length ? true : undefined),
    patienceMs,
  )
  for (const row of await gateway.usage()) rows.set(row.requestId, row)
}, 240_000)

afterAll(async () => {
  await gateway.stop()
  await replay.stop(true)
  await upstream.close()
})

function endingOf({ wire, client, played }: Cell): Ending {
  const isAlike = client.dialect === wire.dialect
  return (isAlike ? played.alikeEnding : undefined) ?? played.ending
}

async function judge(cell: Cell): Promise<void> {
  const { client, played } = cell
  const had = await seen.get(cell)
  if (had === undefined || had instanceof Error) throw had ?? new Error('not asked')
  const ending = endingOf(cell)
  expect(had.text).not.toContain(secrets[0])
  if (played.hidden !== undefined) expect(had.text).not.toContain(played.hidden)
  if (ending === 'well') expectWell(client, had)
  else if (played.spoke) expectErrorAmid(client, had, ending)
  else expectRefused(had, ending)
  expectRecord(rows.get(had.requestId), ending, played)
}

function expectWell(client: FormatClient, had: Seen): void {
  expect({ status: had.status, errors: client.errors(had.text) }).toEqual({
    status: 200,
    errors: [],
  })
  expect({ ends: client.ends(had.text), isLast: client.isLast(had.text) }).toEqual({
    ends: 1,
    isLast: true,
  })
  if (had.sdk !== null) expect(had.sdk).toMatchObject({ text: expect.stringMatching(/^Hel(lo)?$/) })
}

function expectErrorAmid(client: FormatClient, had: Seen, ending: Exclude<Ending, 'well'>): void {
  expect(had.status).toBe(200)
  const errors = client.errors(had.text)
  expect(errors.map(({ type }) => type)).toEqual([client.types[ending]])
  expect({ ends: client.name.startsWith('gemini') ? 0 : client.ends(had.text) }).toEqual({
    ends: 0,
  })
  expect(client.isLast(had.text)).toBe(true)
  if (ending !== 'broken') expectWords(errors[0]?.message ?? '')
  if (had.sdk !== null) expect(had.sdk).toMatchObject({ error: expect.any(Error) })
}

/** The vendor's own error, or the finish reason with which it reported a failure. */
function expectWords(message: string): void {
  expect(message.includes(words) || /finish_?reason|stopReason|reply with/i.test(message)).toBe(
    true,
  )
}

const refusals = { failed: [500, 503, 529], broken: [503, 529], limited: [429], rejected: [400] }

function expectRefused(had: Seen, ending: Exclude<Ending, 'well'>): void {
  expect(refusals[ending]).toContain(had.status)
  if (ending === 'rejected') expect(had.text).toContain(words)
  if (had.sdk !== null) expect(had.sdk).toMatchObject({ error: expect.any(Error) })
}

function expectRecord(row: UsageRow | undefined, ending: Ending, { spoke }: Case): void {
  if (row === undefined) throw new Error('no record')
  const { errorCode, chargeNano, output } = row
  if (ending === 'well') {
    expect({ errorCode, charged: chargeNano > 0n }).toEqual({ errorCode: null, charged: true })
    return
  }
  expect(errorCode).not.toBeNull()
  expect(errorCode).not.toBe('client_closed_request')
  expect({ charged: chargeNano > 0n, counted: !spoke || output > 0 }).toEqual({
    charged: spoke,
    counted: true,
  })
}

describe.each(wires)('a stream of $dialect', (wire) => {
  test.each(clientsOf(wire))(
    'W56 W57 ends whatever breaks it, for a client of $name',
    async (client) => {
      const failures: string[] = []
      for (const cell of cells) {
        if (cell.wire !== wire || cell.client !== client) continue
        try {
          await judge(cell)
        } catch (error) {
          const had = await seen.get(cell)
          const text = had instanceof Error || had === undefined ? '' : had.text.slice(-400)
          failures.push(`${cell.played.name}: ${(error as Error).message}\n${text}`)
        }
      }
      expect(failures.join('\n---\n')).toBe('')
    },
  )
})

test('and leaves nothing behind: no stream, no hold, no connection that a vendor kept open', async () => {
  const valuesOf = async (name: string): Promise<readonly number[]> =>
    parsePrometheus(await gateway.metrics())
      .filter((sample) => sample.name === name)
      .map(({ value }) => value)
  for (const name of ['tollgate_requests_in_flight', 'tollgate_held_units']) {
    await eventually(async () => {
      const values = await valuesOf(name)
      return values.length > 0 && values.every((value) => value === 0) ? true : undefined
    }, patienceMs)
  }
  expect(cells.length).toBeGreaterThan(2_000)
  expect(gateway.stderr).not.toContain('a mistake in the gateway')
  // The gateway is still there, and must be the one that closes the connection.
  await Promise.all(left)
  expect(await gateway.stop()).toBe(0)
}, 150_000)
