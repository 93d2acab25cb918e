// Tests that a vendor is only called below its own base address, whatever a client calls its model or its voice.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../src/errors.ts'
import { type MediaCall, MediaFault, type VendorCall } from '../src/vendors/media.ts'
import { vendors } from '../src/vendors/registry.ts'
import type { Vendor } from '../src/vendors/vendor.ts'
import type { VendorDialectId } from '../src/wire/formats.ts'
import { type Gateway, startGateway } from './support/gateway.ts'
import { playedTools } from './support/media-tools.ts'
import { json, startUpstream, type Upstream } from './support/upstream.ts'

const pieces = [
  ...[
    '..',
    '.',
    '/',
    '\\',
    '?',
    '#',
    '%2f',
    '%2F',
    '%5c',
    '%2e',
    '%2e%2e',
    '%',
    '@',
    ':',
    '//',
    '&',
  ],
  ...[
    ' ',
    '\0',
    '\n',
    '\r\n',
    '\t',
    '\u007f',
    '\ud800',
    '\udfff',
    'é',
    '中',
    '😀',
    'http:',
    'models',
  ],
  ...['a', 'gpt-4o', 'fal-ai', 'flux', 'veo-3', 'publishers', 'v1', 'x'],
]
const names = fc.oneof(
  fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 6 }).map((each) => each.join('')),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }),
)

const base = 'https://vendor.example/base/v1'
const settings = { baseUrl: base, key: 'k', options: { apiVersion: '2024-10-21', project: 'p' } }

/** An address of the vendor for an ordinary name, with which others are compared. */
function expectBelow(address: string, usual: string): void {
  const [found, wanted] = [new URL(address), new URL(usual)]
  expect(found.origin).toBe(wanted.origin)
  expect(found.hash).toBe('')
  expect([...found.searchParams.keys()]).toEqual([...wanted.searchParams.keys()])
  // The parts before and after the name.
  const [before = '', behind = ''] = wanted.pathname.split('benign')
  // A name of Google's may contain its collection.
  expect(found.pathname).toStartWith(before.replace(/(publishers\/google\/)?models\/$/, ''))
  expect(found.pathname).toEndWith(behind)
  expect(found.pathname).toBe(address.slice(found.origin.length).split('?')[0] ?? '')
  const steps = decodeURIComponent(found.pathname).split(/[/\\]|%2f|%5c/i)
  expect(steps.filter((step) => /^(\.|%2e){1,2}$/i.test(step))).toEqual([])
}

function addressOf(vendor: Vendor, dialect: VendorDialectId, model: string): string | null {
  try {
    return vendor.address({ dialect, model, stream: true }, settings)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    expect(error).toMatchObject({ code: 'invalid_request_error', detail: { param: 'model' } })
    return null
  }
}

describe('the address of a call', () => {
  const all = Object.values(vendors).flatMap((vendor) =>
    vendor.speaks.map((dialect): [string, VendorDialectId, Vendor] => [vendor.id, dialect, vendor]),
  )
  test.each(all)('%s %s', (_id, dialect, vendor) => {
    const usual = addressOf(vendor, dialect, 'benign') ?? ''
    fc.assert(
      fc.property(names, (name) => {
        const address = addressOf(vendor, dialect, name)
        if (address !== null) expectBelow(address, usual)
      }),
    )
  })
})

/** The first address that an adapter calls, or null if it refuses the name. */
async function asked(vendor: Vendor, call: MediaCall): Promise<string | null> {
  const stop = new MediaFault({ kind: 'cut', message: 'heard enough' })
  const played = playedTools(vendor.id, {
    baseUrl: base,
    answer: () => {
      throw stop
    },
  })
  try {
    const { tools } = played
    const open = async (asked: VendorCall) => {
      await tools.ask(asked)
      throw stop
    }
    await vendor.adapters?.[call.dialect]?.serve(call, { ...tools, open })
  } catch (error) {
    if (error instanceof GatewayError) expect(error.code).toBe('invalid_request_error')
    else if (error !== stop && !(error instanceof MediaFault)) throw error
  }
  return played.requests[0]?.url ?? null
}

const fields: Partial<Record<VendorDialectId, object>> = {
  'openai-images': { prompt: 'p', response_format: 'b64_json' },
  'openai-speech': { input: 'i', response_format: 'pcm' },
  'openai-videos': { prompt: 'p', seconds: '4', size: '1280x720' },
}

describe('what adapters ask', () => {
  const all = Object.values(vendors)
    .filter(({ local }) => local === undefined)
    .flatMap((vendor) =>
      Object.keys(fields)
        .filter((dialect) => vendor.adapters?.[dialect as VendorDialectId] !== undefined)
        .map((dialect): [string, VendorDialectId, Vendor] => [
          vendor.id,
          dialect as VendorDialectId,
          vendor,
        ]),
    )
  test.each(all)('%s %s', async (_id, dialect, vendor) => {
    const of = (model: string, voice: string): MediaCall => ({
      dialect,
      model,
      fields: { ...fields[dialect], voice },
      uploads: [],
      stream: false,
    })
    let judged = 0
    for (const ofName of [
      (name: string) => of(name, 'benign'),
      (name: string) => of('benign', name),
      (name: string) => of('aura-2', name),
    ]) {
      const usual = await asked(vendor, ofName('benign'))
      await fc.assert(
        fc.asyncProperty(names, async (name) => {
          const address = await asked(vendor, ofName(name))
          if (address === null || usual === null) return
          expectBelow(address, usual)
          judged += 1
        }),
        { numRuns: 60 },
      )
    }
    // With OpenAI's own path a form is passed on unchanged; the adapter only remixes.
    const isFormAlone = dialect === 'openai-videos' && vendor.id.startsWith('openai')
    expect(judged > 0).toBe(!isFormAlone)
  })
})

describe('through the gateway', () => {
  const served = ['fal', 'google', 'bfl', 'elevenlabs', 'azure-openai', 'bedrock', 'vertex']
  let upstream: Upstream
  let gateway: Gateway

  beforeAll(async () => {
    upstream = await startUpstream()
    upstream.on('*', [json(400, { error: { message: 'No.' } })])
    gateway = await startGateway({
      config: {
        channels: served.map((vendor) => ({
          id: vendor,
          vendor,
          baseUrl: `${upstream.url}/${vendor}`,
          key: 'k',
          models: [`${vendor}*`],
          options: vendor === 'azure-openai' ? { apiVersion: '2024-10-21' } : {},
        })),
      },
    })
  })

  afterAll(async () => {
    await gateway.stop()
    await upstream.close()
  })

  const hostile = [
    '/../../admin',
    '/..',
    '\\..\\admin',
    '/%2e%2e/x',
    '%2f..%2fadmin',
    '\ud800',
    '\0',
  ]
  test.each(served)('%s: 400 that names the field, and nothing is asked', async (vendor) => {
    const before = upstream.requests.length
    for (const tail of hostile) {
      const model = vendor === 'elevenlabs' ? vendor : vendor + tail
      const [path, body] = requestTo(vendor, model, tail)
      const seen = await gateway.post(path, body)
      expect({ tail, status: seen.status }).toEqual({ tail, status: 400 })
      const refusal = (await seen.json()) as { error: { param: string } }
      expect(refusal.error.param).toMatch(/^(model|voice)$/)
    }
    expect(upstream.requests.length).toBe(before)
  })
})

function requestTo(vendor: string, model: string, tail: string): [path: string, body: object] {
  if (vendor === 'fal' || vendor === 'bfl')
    return ['/v1/images/generations', { model, prompt: 'p', size: '1024x1024' }]
  if (vendor === 'elevenlabs') return ['/v1/audio/speech', { model, input: 'i', voice: `v${tail}` }]
  return ['/v1/chat/completions', { model, messages: [{ role: 'user', content: 'c' }] }]
}
