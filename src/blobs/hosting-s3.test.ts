// Tests hosted results in a bucket: uploaded in parts, fetched from there, removed when they have expired.

import { describe, expect, test } from 'bun:test'
import { type Bucket, startBucket } from '../../test/support/bucket.ts'
import { startGateway } from '../../test/support/gateway.ts'
import { MediaFault } from '../vendors/media.ts'
import { createHosting } from './hosting.ts'
import { BucketFiles } from './hosting-s3.ts'

function open(bucket: Bucket, { urlHours = 24, agoMs = 0 } = {}) {
  const nowMs = () => Date.now() - agoMs
  const settings = { ...s3Of(bucket), region: 'eu-central-1', prefix: 'tollgate/' }
  const store = new BucketFiles({ settings, nowMs })
  const hosting = createHosting({ store, urlHours, nowMs, hosted: () => undefined })
  const host = (bytes: Uint8Array, type: string) => {
    const read = (start: number, end: number) => bytes.subarray(start, end)
    return hosting.host({ type, size: bytes.length, read }, 'acme', 'https://gate.example')
  }
  return { store, host }
}

function s3Of({ url, name, accessKeyId, secretAccessKey }: Bucket) {
  return { endpoint: url, bucket: name, accessKeyId, secretAccessKey }
}

const mp4Beginning = Buffer.from('00000020667479706d703432', 'hex')
const film = Buffer.concat([mp4Beginning, Buffer.alloc(12_000_000, 'frames of a film ')])

describe('in a bucket', () => {
  test('a result is kept with its type, and whoever has its address fetches it there', async () => {
    await using bucket = startBucket()
    const address = await open(bucket).host(Buffer.from('ffd8ffe0', 'hex'), 'image/png')
    const [key = ''] = bucket.objects.keys()
    expect(key).toMatch(/^tollgate\/\d{6}\/[\w-]{32}\.jpg$/)
    expect(bucket.objects.get(key)?.type).toBe('image/jpeg')
    const url = new URL(address)
    expect(url.origin + url.pathname).toBe(`${bucket.url}/${bucket.name}/${key}`)
    expect(Number(url.searchParams.get('X-Amz-Expires'))).toBeGreaterThan(86_390)
    expect(Number(url.searchParams.get('X-Amz-Expires'))).toBeLessThanOrEqual(86_400)
    expect(address).not.toContain(bucket.secretAccessKey)
    const response = await fetch(address)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('image/jpeg')
    expect(response.headers.get('content-disposition')).toStartWith('inline; filename="')
    expect(Buffer.from(await response.bytes()).toString('hex')).toBe('ffd8ffe0')
    url.searchParams.delete('X-Amz-Signature')
    expect((await fetch(url)).status).toBe(403)
  })

  test('a long one goes up in parts, none of which is the whole', async () => {
    await using bucket = startBucket()
    const address = await open(bucket).host(film, 'video/mp4')
    expect(bucket.calls.filter((call) => call.endsWith('?partNumber')).length).toBeGreaterThan(1)
    expect(film.equals(await (await fetch(address)).bytes())).toBe(true)
  })

  test('a store that refuses is no fault of the vendor, and its words are not shown', async () => {
    await using bucket = startBucket()
    bucket.failing = 403
    const { host } = open(bucket)
    for (const body of [Buffer.from('short'), film]) {
      const error: unknown = await host(body, 'image/png').catch((thrown: unknown) => thrown)
      if (!(error instanceof MediaFault)) throw error
      expect(error.fault).toEqual({
        kind: 'no_room',
        message: 'a result cannot be hosted: the store failed with SlowDown',
      })
    }
    expect(bucket.objects.size).toBe(0)
  })

  test('what has expired is removed, and nothing else', async () => {
    await using bucket = startBucket()
    const hours = 3_600_000
    for (const agoMs of [50 * hours, 49 * hours, 48 * hours, 26 * hours])
      for (let file = 0; file < 2; file++)
        await open(bucket, { agoMs }).host(film.subarray(0, 9), '')
    const others = ['tollgate/notes.txt', 'tollgate/123/notes.txt', 'others/1/file.png']
    for (const key of others) bucket.objects.set(key, { type: '', bytes: Buffer.from('x') })
    const { store, host } = open(bucket)
    const kept = await host(film.subarray(0, 9), 'video/mp4')
    await store.sweep(Date.now())
    expect((await fetch(kept)).status).toBe(200)
    const key = new URL(kept).pathname.slice(`/${bucket.name}/`.length)
    expect([...bucket.objects.keys()].sort()).toEqual([key, ...others].sort())
  })

  test('a session token of another account, which would be shown to all, is refused', async () => {
    await using bucket = startBucket()
    const media = { store: { s3: s3Of(bucket) } }
    const start = (env: Record<string, string>) =>
      startGateway({ config: { media }, env, bare: true })
    await expect(start({ AWS_SESSION_TOKEN: 'S3CRET-token' })).rejects.toThrow(
      'media.store.s3: start without AWS_SESSION_TOKEN',
    )
    await using gateway = await start({ AWS_SESSION_TOKEN: 'S3CRET-token', S3_SESSION_TOKEN: '' })
    expect(gateway.stderr).not.toContain('S3CRET')
  })

  test('a sweep that fails says so', async () => {
    await using bucket = startBucket()
    bucket.failing = 403
    await expect(open(bucket).store.sweep(Date.now())).rejects.toThrow()
  })
})
