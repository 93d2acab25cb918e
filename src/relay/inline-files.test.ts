// Tests that addresses are replaced by their bytes if the vendor needs that, and only then.

import { expect, test } from 'bun:test'
import { type Fetched, NotFetched } from '../safe-fetch/safe-fetch.ts'
import type { VendorHub } from '../wire/codec.ts'
import { geminiHub } from '../wire/gemini/hub.ts'
import type { ChatRequest, RequestPart } from '../wire/ir.ts'
import { fetchMissing, type Inlined, missingAddresses, withBytes } from './inline-files.ts'

/** A format whose vendors do not fetch images. */
const hub = { needsBytes: ({ type }) => type === 'image' } as VendorHub

function asking(...parts: RequestPart[]): ChatRequest {
  return { model: 'm', stream: false, messages: [{ role: 'user', parts }] }
}

const image = (url: string): RequestPart => ({ type: 'image', url })
const bytes = (...values: number[]) => new Uint8Array(values)

function safeFetchTo(found: Readonly<Record<string, Fetched>>) {
  const asked: string[] = []
  return {
    asked,
    async fetch(address: string) {
      asked.push(address)
      const fetched = found[address]
      if (fetched === undefined) throw new NotFetched('its host name cannot be resolved')
      return fetched
    },
  }
}

const png = { bytes: bytes(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a), mediaType: 'text/html' }

test('each address once, with the type its bytes have and not the one its server says', async () => {
  const request = asking(
    image('https://a/1'),
    image('HTTPS://a/1'),
    image('https://a/1'),
    image('data:image/png;base64,AA=='),
    { type: 'file', url: 'https://a/2' },
    { type: 'text', text: 'https://a/3' },
  )
  const inlined: Inlined = new Map()
  const safeFetch = safeFetchTo({ 'https://a/1': png, 'HTTPS://a/1': png })
  const missing = missingAddresses(request, hub, inlined)
  await fetchMissing(missing, safeFetch, inlined)
  expect(safeFetch.asked).toEqual(['https://a/1', 'HTTPS://a/1'])
  expect(missingAddresses(request, hub, inlined)).toEqual([])
  const placed = withBytes(request, hub, inlined).messages[0]?.parts
  const data = 'data:image/png;base64,iVBORw0KGgo='
  expect(placed?.slice(0, 3)).toEqual([image(data), image(data), image(data)])
  expect(placed?.slice(3)).toEqual(request.messages[0]?.parts.slice(3) ?? [])
})

test('a format whose vendors fetch themselves misses nothing', () => {
  const request = asking(image('https://a/1'))
  expect(missingAddresses(request, {} as VendorHub, new Map())).toEqual([])
  expect(withBytes(request, {} as VendorHub, new Map([['https://a/1', 'data:,']]))).toEqual(request)
})

test('Google fetches over HTTPS alone', () => {
  const request = asking(image('http://a/1'), image('https://a/2'), image('gs://a/3'))
  expect(missingAddresses(request, geminiHub, new Map())).toEqual(['http://a/1'])
})

test.each([
  ['nothing there', {}, 'its host name cannot be resolved'],
  ['a page', { 'https://a/1': { bytes: bytes(60, 104), mediaType: 'text/html' } }, 'not an image'],
  [
    'unknown bytes',
    { 'https://a/1': { bytes: bytes(1, 2, 3), mediaType: 'image/png' } },
    'not an image',
  ],
])('%s is told with its address', async (_what, found, why) => {
  const fetching = fetchMissing(['https://a/1'], safeFetchTo(found), new Map())
  await expect(fetching).rejects.toThrow(`'https://a/1' could not be fetched: `)
  await expect(fetching).rejects.toThrow(why)
})

test('more than sixteen are refused before anything is fetched', () => {
  const images = Array.from({ length: 17 }, (_, at) => image(`https://a/${at}`))
  expect(() => missingAddresses(asking(...images), hub, new Map())).toThrow('at most 16')
})
