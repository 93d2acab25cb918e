// Puts the bytes of images and files in place of their addresses, for vendors that fetch nothing themselves.

import { Buffer } from 'node:buffer'
import { invalidRequest } from '../errors.ts'
import { type Fetched, NotFetched, type SafeFetch } from '../safe-fetch/safe-fetch.ts'
import type { VendorHub } from '../wire/codec.ts'
import type { ChatRequest, FilePart, ImagePart, RequestPart } from '../wire/ir.ts'

/** `data:` addresses by the addresses they were fetched from; one request's own. */
export type Inlined = Map<string, string>

/** More than a model reads, and what one request may have the gateway fetch. */
const maxAddresses = 16

/** The addresses whose bytes are still to be had. Throws GatewayError where there are too many. */
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
      `This model's vendor fetches nothing itself, and at most ${maxAddresses} images and files are fetched for a request.`,
      'messages',
    )
  }
  return [...found]
}

/** Throws GatewayError that names the address which could not be had. */
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

/** The request with the bytes in place. */
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

/** The beginnings of the files models read, by the specifications of their formats. */
const beginnings: readonly (readonly [mediaType: string, hex: RegExp])[] = [
  ['image/png', /^89504e470d0a1a0a/],
  ['image/jpeg', /^ffd8ff/],
  ['image/gif', /^474946383[79]61/],
  ['image/webp', /^52494646.{8}57454250/],
  ['application/pdf', /^255044462d/],
]

/** By the bytes first: servers often say what is not so. Throws NotFetched for what no model reads. */
function mediaTypeOf({ bytes, mediaType }: Fetched): string {
  const head = Buffer.from(bytes.subarray(0, 12)).toString('hex')
  const known = beginnings.find(([, hex]) => hex.test(head))
  if (known !== undefined) return known[0]
  if (mediaType.startsWith('text/') && mediaType !== 'text/html') return mediaType
  throw new NotFetched('it is no image, PDF or text')
}
