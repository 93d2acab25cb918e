// Replaces the URLs of images and files by their bytes, for vendors that fetch nothing themselves.

import { Buffer } from 'node:buffer'
import { invalidRequest } from '../errors.ts'
import { type Fetched, NotFetched, type SafeFetch } from '../safe-fetch/safe-fetch.ts'
import type { VendorHub } from '../wire/codec.ts'
import type { ChatRequest, FilePart, ImagePart, RequestPart } from '../wire/ir.ts'

/** The `data:` URLs of one request, by the URLs they were fetched from. */
export type Inlined = Map<string, string>

/** The most URLs the gateway fetches for one request; more than a model reads. */
const maxAddresses = 16

/** The URLs that still have to be fetched. Throws GatewayError where there are too many. */
export function missingAddresses(
  request: ChatRequest,
  hub: VendorHub,
  inlined: Inlined,
): readonly string[] {
  if (hub.needsBytes === undefined) return []
  const found = new Set<string>()
  for (const { parts } of request.messages) {
    for (const part of parts)
      if (isMissing(part, hub) && !inlined.has(part.url)) found.add(part.url)
  }
  if (found.size > maxAddresses) {
    throw invalidRequest(
      `This model's vendor does not fetch URLs itself, and the gateway fetches at most ${maxAddresses} images and files for a request.`,
      'messages',
    )
  }
  return [...found]
}

/** Fetches them all. Throws a GatewayError that names the URL which could not be fetched. */
export async function fetchMissing(
  addresses: readonly string[],
  safeFetch: SafeFetch,
  inlined: Inlined,
): Promise<void> {
  await Promise.all(
    addresses.map(async (address) => {
      inlined.set(address, await fetchOne(address, safeFetch))
    }),
  )
}

async function fetchOne(address: string, safeFetch: SafeFetch): Promise<string> {
  try {
    const fetched = await safeFetch.fetch(address)
    const mediaType = mediaTypeOf(fetched)
    return `data:${mediaType};base64,${Buffer.from(fetched.bytes).toString('base64')}`
  } catch (error) {
    if (!(error instanceof NotFetched)) throw error
    const shown = address.length > 200 ? `${address.slice(0, 200)}...` : address
    throw invalidRequest(`'${shown}' could not be fetched: ${error.message}.`, 'messages')
  }
}

/** The request with the fetched bytes in place of their URLs. */
export function withBytes(request: ChatRequest, hub: VendorHub, inlined: Inlined): ChatRequest {
  if (inlined.size === 0) return request
  const placed = (part: RequestPart): RequestPart =>
    isMissing(part, hub) ? { ...part, url: inlined.get(part.url) ?? part.url } : part
  const messages = request.messages.map((message) => ({
    ...message,
    parts: message.parts.map(placed),
  }))
  return { ...request, messages }
}

function isMissing(part: RequestPart, hub: VendorHub): part is ImagePart | FilePart {
  if (part.type !== 'image' && part.type !== 'file') return false
  return /^https?:/i.test(part.url) && hub.needsBytes?.(part) === true
}

/** The first bytes of the file types that models read, from the specifications of the formats. */
const beginnings: readonly (readonly [mediaType: string, hex: RegExp])[] = [
  ['image/png', /^89504e470d0a1a0a/],
  ['image/jpeg', /^ffd8ff/],
  ['image/gif', /^474946383[79]61/],
  ['image/webp', /^52494646.{8}57454250/],
  ['application/pdf', /^255044462d/],
]

/** Judged by the bytes first: servers often send a wrong type. Throws NotFetched for types that no model reads. */
function mediaTypeOf({ bytes, mediaType }: Fetched): string {
  const head = Buffer.from(bytes.subarray(0, 12)).toString('hex')
  const known = beginnings.find(([, hex]) => hex.test(head))
  if (known !== undefined) return known[0]
  if (mediaType.startsWith('text/') && mediaType !== 'text/html') return mediaType
  throw new NotFetched('it is not an image, PDF or text')
}
