// Tests hosted results on disk: addresses that only the gateway can make, bounds, and the removal of expired results.

import { afterEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MediaFault, type Payload } from '../vendors/media.ts'
import { createHosting } from './hosting.ts'
import { DiskFiles } from './hosting-disk.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

const start = Date.parse('2026-11-21T10:20:30Z')

function open(more: { readonly urlHours?: number; readonly maxStoredBytes?: number } = {}) {
  const root = mkdtempSync(join(tmpdir(), 'tollgate-hosting-'))
  folders.push(root)
  const folder = join(root, 'media')
  const clock = { nowMs: start }
  const nowMs = () => clock.nowMs
  const key = Buffer.from('0123456789abcdef')
  const { urlHours = 24, maxStoredBytes = 1_000_000 } = more
  const reports: string[] = []
  const process = () => new DiskFiles({ folder, key, nowMs })
  const files = process()
  const store = files.store(maxStoredBytes)
  const hosting = createHosting({
    store,
    urlHours,
    nowMs,
    hosted: (account, { id }, bytes) => reports.push(`${account} ${id} ${bytes}`),
  })
  const host = (body: Payload) => hosting.host(body, 'acme', 'https://gate.example')
  return { folder, clock, files, store, host, reports, process }
}

function payloadOf(bytes: Uint8Array, type: string): Payload {
  return { type, size: bytes.length, read: (start, end) => bytes.subarray(start, end) }
}

const jpeg = Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), Buffer.alloc(600_000, 'leaf')])

function partsOf(address: string) {
  const { origin, pathname, searchParams } = new URL(address)
  const [expires, signature] = [searchParams.get('expires'), searchParams.get('signature')]
  const id = pathname.replace('/files/', '')
  return { origin, id, expires: expires ?? '', signature: signature ?? '' }
}

test('what is hosted is found at its address, with its type, until it expires', async () => {
  const { host, files, clock, reports } = open({ urlHours: 2 })
  const address = await host(payloadOf(jpeg, 'image/png'))
  const { origin, ...asked } = partsOf(address)
  expect(origin).toBe('https://gate.example')
  expect(asked.id).toMatch(/^[\w-]{32}\.jpg$/)
  expect(asked.expires).toBe(String(start / 1000 + 7_200))
  const found = await files.find(asked)
  if (found === null || typeof found === 'string') throw new Error(`not found: ${found}`)
  expect(found).toMatchObject({ id: asked.id, type: 'image/jpeg' })
  expect(jpeg.equals(await found.blob.bytes())).toBe(true)
  expect(reports).toEqual([`acme ${asked.id} ${jpeg.length}`])
  clock.nowMs += 7_199_999
  expect(await files.find(asked)).toMatchObject({ id: asked.id })
  clock.nowMs += 1
  expect(await files.find(asked)).toBe('expired')
})

test.each([
  ['image/png', 'png'],
  ['image/webp', 'webp'],
  ['image/svg+xml', 'svg'],
  ['audio/mpeg', 'mp3'],
  ['video/mp4', 'mp4'],
  ['text/html', 'bin'],
  ['application/x-unheard-of', 'bin'],
])('bytes of type %s are called .%s', async (type, ending) => {
  const { host, files } = open()
  const asked = partsOf(await host(payloadOf(Buffer.from('bytes that say nothing'), type)))
  expect(asked.id).toEndWith(`.${ending}`)
  const expected = ending === 'bin' ? 'application/octet-stream' : type
  expect(await files.find(asked)).toMatchObject({ type: expected })
})

describe('addresses the gateway never gave away', () => {
  test.each([
    ['another file', { id: 'A'.repeat(32) + '.jpg' }],
    ['another end', { expires: '9999999999' }],
    ['an end that is no number', { expires: '1e10' }],
    ['no end', { expires: '' }],
    ['no signature', { signature: '' }],
    ['a part of the signature', { signature: 'short' }],
    ['another signature', { signature: 'A'.repeat(43) }],
    ['the way to another folder', { id: '../../encryption.key' }],
    ['the way to another folder, encoded', { id: '..%2f..%2fencryption.key' }],
  ])('%s', async (_, change) => {
    const { host, files } = open()
    const asked = partsOf(await host(payloadOf(jpeg, 'image/jpeg')))
    expect(await files.find({ ...asked, ...change })).toBe('forged')
  })

  test('one of a deployment with another key', async () => {
    const [one, other] = [open(), open()]
    const asked = partsOf(await one.host(payloadOf(jpeg, 'image/jpeg')))
    const key = Buffer.from('another key of another gateway')
    const stranger = new DiskFiles({ folder: one.folder, key, nowMs: () => start })
    expect(await stranger.find(asked)).toBe('forged')
    // The key is the same, but the file is on another machine.
    expect(await other.files.find(asked)).toBeNull()
  })

  test('no two files are called alike', async () => {
    const { host } = open()
    const addresses = await Promise.all(
      Array.from({ length: 50 }, () => host(payloadOf(Buffer.from('x'), 'image/png'))),
    )
    expect(new Set(addresses.map((address) => partsOf(address).id)).size).toBe(50)
  })
})

describe('on disk', () => {
  test('it is for its owner alone', async () => {
    const { host, folder } = open()
    await host(payloadOf(jpeg, 'image/jpeg'))
    const [hour = ''] = readdirSync(folder)
    const [name = ''] = readdirSync(join(folder, hour))
    expect(statSync(join(folder, hour)).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, hour, name)).mode & 0o777).toBe(0o600)
  })

  test('it goes when it has expired, and no other does', async () => {
    const { host, folder, store, clock, files } = open({ urlHours: 1 })
    const first = partsOf(await host(payloadOf(jpeg, 'image/jpeg')))
    clock.nowMs += 3_600_000
    const second = partsOf(await host(payloadOf(Buffer.from('x'), 'image/jpeg')))
    await store.sweep(clock.nowMs)
    expect(await files.find(first)).toBe('expired')
    expect(readdirSync(folder)).toHaveLength(2)
    clock.nowMs += 3_600_000 - 1
    await store.sweep(clock.nowMs)
    expect(await files.find(second)).toMatchObject({ id: second.id })
    expect(readdirSync(folder)).toHaveLength(1)
    clock.nowMs += 3_600_000
    await store.sweep(clock.nowMs)
    expect(readdirSync(folder)).toEqual([])
    expect(await files.find(second)).toBe('expired')
  })

  test('a file that is gone before its time is not there', async () => {
    const { host, folder, files } = open()
    const asked = partsOf(await host(payloadOf(jpeg, 'image/jpeg')))
    rmSync(folder, { recursive: true })
    expect(await files.find(asked)).toBeNull()
  })

  test('it is bounded, also by what lay there before, and has room again after a sweep', async () => {
    const { host, process, store, clock, folder } = open({ maxStoredBytes: 1_000_000 })
    await host(payloadOf(jpeg, 'image/jpeg'))
    const refused = host(payloadOf(jpeg, 'image/jpeg'))
    await expect(refused).rejects.toThrow('media.maxStoredBytes is reached')
    await expect(refused).rejects.toBeInstanceOf(MediaFault)
    const later = process().store(1_000_000)
    const file = { id: `${'B'.repeat(32)}.jpg`, expires: start / 1000 + 60 }
    await expect(later.put(file, payloadOf(jpeg, 'image/jpeg'), '')).rejects.toThrow('is reached')
    await later.put(file, payloadOf(jpeg.subarray(0, 300_000), 'image/jpeg'), '')
    clock.nowMs += 25 * 3_600_000
    await store.sweep(clock.nowMs)
    expect(readdirSync(folder)).toEqual([])
    await host(payloadOf(jpeg, 'image/jpeg'))
  })

  test('nothing stays of a result that could not be read to its end', async () => {
    const { host, folder } = open({ maxStoredBytes: 700_000 })
    const read = (begin: number, end: number) => {
      if (end > 500_000) throw new Error('the spool is closed')
      return jpeg.subarray(begin, end)
    }
    await expect(host({ type: 'image/jpeg', size: jpeg.length, read })).rejects.toThrow('closed')
    const [hour = ''] = readdirSync(folder)
    expect(readdirSync(join(folder, hour))).toEqual([])
    await host(payloadOf(jpeg, 'image/jpeg'))
  })

  test('a disk that cannot be written to is reported, and is no fault of the vendor', async () => {
    const { host, folder } = open()
    await Bun.write(folder, 'a file where the folder should be')
    const refused = host(payloadOf(jpeg, 'image/jpeg'))
    await expect(refused).rejects.toMatchObject({ fault: { kind: 'no_room' } })
    expect(existsSync(folder)).toBe(true)
  })
})
