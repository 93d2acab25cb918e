// Tests the configuration of the destinations to which records of requests are exported.

import { describe, expect, test } from 'bun:test'
import { buildConfig } from './build.ts'
import { describeConfig } from './describe.ts'
import { fileSchema } from './schema.ts'

const s3 = { bucket: 'b', accessKeyId: 'S3CRET-id', secretAccessKey: 'S3CRET' }
const clickhouse = { url: 'https://ch.example:8443', password: 'S3CRET' }
const load = (settings: object) =>
  buildConfig(fileSchema.parse({ usage: { export: settings } }), {}, null)

/** The paths that are refused. */
function refused(settings: object): readonly string[] {
  const { error } = fileSchema.safeParse({ usage: { export: settings } })
  return error?.issues.map(({ path }) => path.join('.')) ?? []
}

describe('where records of requests leave to', () => {
  test('is nowhere unless it is said, and then with the defaults beside it', () => {
    const none = { clickhouse: null, s3: null, intervalMs: 10_000, holdDays: 7 }
    expect(load({}).usage.export).toEqual(none)
    const { usage } = load({ clickhouse, s3: { ...s3, prefix: '/a/b' } })
    expect(usage.export.clickhouse).toEqual({
      ...{ ...clickhouse, user: 'default' },
      ...{ database: 'default', table: 'tollgate_usage' },
    })
    expect(usage.export.s3).toMatchObject({ bucket: 'b', prefix: 'a/b/' })
    expect(JSON.stringify(describeConfig(load({ clickhouse, s3 })))).not.toContain('S3CRET')
  })

  test('is refused by its field: an empty secret, an address with one, a table that is a statement', () => {
    const field = (change: object) => refused({ clickhouse: { ...clickhouse, ...change } })
    const at = (name: string) => [`usage.export.clickhouse.${name}`]
    expect(field({ password: '' })).toEqual(at('password'))
    expect(field({ url: 'https://u:p@ch.example' })).toEqual(at('url'))
    expect(field({ url: 'file:///etc/passwd' })).toEqual(at('url'))
    expect(field({ table: 'a`; DROP' })).toEqual(at('table'))
    expect(refused({ s3: { ...s3, secretAccessKey: '' } })).toEqual([
      'usage.export.s3.secretAccessKey',
    ])
    expect(refused({ holdDays: 0 })).toEqual(['usage.export.holdDays'])
  })
})
