// Tests every vendor of media other than text, feature by feature: results are decoded and checked, and the page is
// written.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { vendors } from '../../src/vendors/registry.ts'
import { openaiClient } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { type RealtimeVendor, startRealtimeVendor } from '../support/realtime.ts'
import { imageFeatures } from './media/image-cells.ts'
import { moderationFeatures, videoFeatures } from './media/other-cells.ts'
import { startOpenaiVideos } from './media/others.ts'
import { realtimeFeatures, startTlsProxy, type TlsProxy } from './media/realtime-cells.ts'
import {
  imageRows,
  moderationRows,
  type Row,
  realtimeRows,
  speechRows,
  type TableName,
  tables,
  transcriptRows,
  videoRows,
} from './media/rows.ts'
import { type MediaVendors, startMediaVendors, vendorKey } from './media/server.ts'
import { speechFeatures, transcriptFeatures } from './media/sound-cells.ts'
import { type Cell, type Feature, tried } from './media/tried.ts'

const page = join(import.meta.dir, '../../docs/conformance-media.md')
/** Writes the page again instead of comparing it with the results. */
const writes = process.env['TOLLGATE_WRITE_CONFORMANCE'] === '1'
const allMs = 240_000

const films = startOpenaiVideos()
const talkers = new Map<Row, RealtimeVendor>(
  realtimeRows.filter(({ service }) => service !== null).map((row) => [row, startRealtimeVendor()]),
)
const sections: readonly {
  readonly table: TableName
  readonly title: string
  readonly rows: readonly Row[]
  readonly features: readonly Feature[]
}[] = [
  { table: 'images', title: 'Images', rows: imageRows, features: imageFeatures },
  {
    table: 'transcripts',
    title: 'Transcriptions and translations',
    rows: transcriptRows,
    features: transcriptFeatures,
  },
  { table: 'speech', title: 'Speech', rows: speechRows, features: speechFeatures },
  { table: 'videos', title: 'Videos', rows: videoRows(films.service), features: videoFeatures },
  {
    table: 'moderations',
    title: 'Moderations',
    rows: moderationRows,
    features: moderationFeatures,
  },
  {
    table: 'realtime',
    title: 'Realtime',
    rows: realtimeRows,
    features: realtimeFeatures(() => tlsProxy.url),
  },
]

/** Each row has its own vendor, group and key, so that its requests can be identified. */
const rows = sections.flatMap(({ rows: all, features }) => all.map((row) => ({ row, features })))
const nameOf = (row: Row) => `row-${rows.findIndex((each) => each.row === row)}`
const keyOf = (row: Row) => `sk-${nameOf(row)}-0123456789abcdef`

let upstream: MediaVendors
let gateway: Gateway
let tlsProxy: TlsProxy
const found = new Map<string, Cell | Error>()
const cellName = (row: Row, feature: Feature) => `${nameOf(row)} ${feature.name}`

beforeAll(async () => {
  const services = rows.map(({ row }) => [nameOf(row), row.service ?? (async () => gone())])
  upstream = startMediaVendors(Object.fromEntries(services))
  gateway = await startGateway({
    config: {
      groups: Object.fromEntries(rows.map(({ row }) => [nameOf(row), {}])),
      keys: rows.map(({ row }) => ({ name: nameOf(row), secret: keyOf(row), group: nameOf(row) })),
      channels: rows.map(({ row }) => channelOf(row)),
      models: Object.fromEntries(rows.map(({ row }) => [nameIn(row), modelOf(row)])),
    },
  })
  tlsProxy = await startTlsProxy(gateway.url)
  await Promise.all(rows.map(({ row, features }) => tryRow(row, features)))
}, allMs)
afterAll(async () => {
  await tlsProxy.close()
  await gateway.stop()
  await Promise.all([...talkers.values()].map((talker) => talker.close()))
  await upstream[Symbol.asyncDispose]()
  await films[Symbol.asyncDispose]()
})

function gone(): Response {
  return new Response('', { status: 404 })
}

function channelOf(row: Row) {
  const id = nameOf(row)
  const { vendor, model, below } = row
  if (row.service === null) return { id, vendor, groups: [id], models: [nameIn(row)] }
  return {
    id,
    vendor,
    groups: [id],
    baseUrl: talkers.get(row)?.url ?? upstream.place(id) + below,
    key: vendorKey,
    models: [model],
  }
}

/** The sandbox's models are asked by longer names, with what they are to do. */
function nameIn({ model, service }: Row): string {
  return service === null ? `${model}*` : model
}

function modelOf({ table, model }: Row) {
  const { kind, prices } = tables[table]
  // A chat model with sound input keeps its own kind.
  return /^gemini-[\d.]+-flash$/.test(model) ? { prices } : { kind, prices }
}

async function tryRow(row: Row, features: readonly Feature[]): Promise<void> {
  const client = openaiClient(gateway.url, { key: keyOf(row) })
  for (const feature of features) {
    const spoken = vendors[row.vendor]?.speaks.includes(feature.dialect) === true
    const sent = () => talkers.get(row)?.sessions.length ?? upstream.count(nameOf(row))
    const cell = await tried(feature, { client, row, spoken, sent }).catch((error: unknown) =>
      error instanceof Error ? error : new Error(String(error)),
    )
    found.set(cellName(row, feature), cell)
  }
}

describe.each(sections)('$title', ({ rows: all, features }) => {
  describe.each(all)('$vendor $model', (row) => {
    test.each(features.map((feature) => [feature.name, feature] as const))('%s', (_, feature) => {
      const cell = found.get(cellName(row, feature))
      if (cell instanceof Error) throw cell
      expect(cell).toBeString()
    })
  })
})

test('every vendor of a format stands in its table', () => {
  for (const { table, rows: all } of sections) {
    const formats: readonly string[] = tables[table].dialects
    const speaking = Object.values(vendors).filter(({ speaks }) =>
      speaks.some((dialect) => formats.includes(dialect)),
    )
    const missing = speaking.filter(({ id }) => !all.some(({ vendor }) => vendor === id))
    expect({ table, missing: missing.map(({ id }) => id) }).toEqual({ table, missing: [] })
  }
})

test('what works is paid for, what is refused costs nothing', async () => {
  const usage = await gateway.usage()
  expect(usage.length).toBeGreaterThan(0)
  // A session without a response costs nothing.
  const made = usage.filter((row) => row.operation !== 'realtime' || row.usageSource !== 'none')
  const wrong = made.filter(({ status, chargeNano }) => (status === 200) !== chargeNano > 0n)
  expect(
    wrong.map(({ modelAsked, operation, status }) => ({ modelAsked, operation, status })),
  ).toEqual([])
})

test('realtime vendors were sent their own keys, and no client’s', () => {
  for (const [{ vendor }, talker] of talkers) {
    expect(talker.sessions.length).toBeGreaterThan(0)
    for (const { headers } of talker.sessions) {
      const [name, scheme] =
        vendor === 'azure-openai' ? ['api-key', ''] : ['authorization', 'Bearer ']
      expect(headers.get(name ?? '')).toBe(`${scheme}${vendorKey}`)
      expect(JSON.stringify([...headers])).not.toContain('sk-row')
    }
  }
})

test('docs/conformance-media.md says what was seen', () => {
  const text = pageText()
  if (writes) writeFileSync(page, text)
  expect(existsSync(page) ? readFileSync(page, 'utf8') : '').toBe(text)
})

function pageText(): string {
  const parts = sections.map(({ title, rows: all, features }) => {
    const head = `| vendor | model | ${features.map(({ name }) => name).join(' | ')} |`
    const rule = `|---|---|${features.map(() => '---|').join('')}`
    const lines = all.map((row) => {
      const cells = features.map((feature) => found.get(cellName(row, feature)))
      const said = cells.map((cell) => (typeof cell === 'string' ? cell : 'FAILS'))
      return `| ${row.vendor} | \`${row.model}\` | ${said.join(' | ')} |`
    })
    return `## ${title}\n\n${[head, rule, ...lines].join('\n')}\n`
  })
  return `${opening}\n${parts.join('\n')}`
}

const opening = `# Conformance beyond text

What of OpenAI's interface for images, sound, videos, moderations and realtime works with which vendor. Written by \`test/conformance/media.test.ts\`, which asks with the official \`openai\` client, plays each vendor as its documentation has it and refuses what that vendor would refuse, and decodes what comes: sizes of pictures, lengths of sounds, times of subtitles, frames of films. Text is in [conformance.md](conformance.md).

\`works\`: the client got what the vendor made, and it was paid for. \`refused\`: 400 with the field at fault; nothing was sent, nothing is charged. \`refused by vendor\`: it was sent as it is, and the client got the vendor's own 400; nothing is charged. \`not offered\`: the vendor has no such thing.
`
