// Tests that the configuration as shown to operators hides every secret and says what a reload cannot change.

import { expect, test } from 'bun:test'
import { buildConfig } from './build.ts'
import { describeConfig, needsRestart } from './describe.ts'
import { fileSchema } from './schema.ts'
import type { Override } from './settings.ts'
import type { Config } from './types.ts'

const input = {
  server: { metricsToken: 'S3CRET-metrics' },
  databaseUrl: 'postgres://gate:S3CRET-database@db.example/t?password=S3CRET-query',
  valkeyUrl: 'redis://S3CRET-user@127.0.0.1:6379',
  channels: [
    {
      id: 'a',
      vendor: 'azure-openai',
      key: 'S3CRET-vendor',
      options: { apiVersion: '2024-10-21', clientSecret: 'S3CRET-option' },
    },
  ],
  media: {
    store: { s3: { bucket: 'results', accessKeyId: 'S3CRET-id', secretAccessKey: 'S3CRET-store' } },
  },
  keys: [{ name: 'k', secret: 'S3CRET-key-0123456789', expiresAt: '2027-01-31' }],
}

/** A configuration with credentials in an address, which the schema would refuse. */
function build(said: object, override: Override = {}): Config {
  const settings = fileSchema.parse(said)
  const baseUrl = 'https://u:S3CRET-base@api.example/v1'
  const channels = settings.channels.map((channel) => ({ ...channel, baseUrl }))
  return buildConfig({ ...settings, channels }, override, null)
}

test('no secret is shown, and the rest is', () => {
  const text = JSON.stringify(describeConfig(build(input, { encryptionKey: 'S3CRET-signing' })))
  expect(text).not.toContain('S3CRET')
  for (const shown of [
    'db.example',
    'gate',
    '127.0.0.1:6379',
    '2024-10-21',
    'api.example/v1',
    'results',
  ]) {
    expect(text).toContain(shown)
  }
  expect(text).toContain('"expiresAt":"2027-01-31T00:00:00.000Z"')
})

test('what a reload cannot change is named', () => {
  const before = build(input)
  const after = build({ ...input, server: { port: 1, drainMs: 1 }, currency: 'EUR' })
  expect(needsRestart(before, after)).toEqual(['currency', 'server.port'])
  const money = { ledger: { settleMs: 5 }, billing: { durability: 'strict' as const } }
  expect(needsRestart(before, build({ ...input, ...money }))).toEqual([
    'billing.durability',
    'ledger.settleMs',
  ])
  const fixed = {
    billing: { maxHeldPerKey: '5', maxHeldPerAccount: '9' },
    logLevel: 'warn',
    nodes: 3,
  }
  expect(needsRestart(before, build({ ...input, ...fixed }))).toEqual([
    'nodes',
    'logLevel',
    'billing.maxHeldPerKey',
    'billing.maxHeldPerAccount',
  ])
  const billing = { vendorFails: 'free' as const }
  expect(needsRestart(before, build({ ...input, billing, channels: [] }))).toEqual([])
})
