// State that a vendor returns in a header and wants back: marked with its channel, and sent to that channel alone.

import type { Candidate } from '../router/route.ts'
import type { ClientDialect } from '../wire/dialect.ts'
import type { Channel, PassedHeaders } from './channel.ts'
import type { RelayRequest } from './request.ts'

const none: PassedHeaders = {}
/** The length of `Channel.tag`. */
const tagLength = 8
/** Longer than any vendor's state; it has to fit in a request head with everything else. */
const maxLength = 8_192

/** The state headers of a reply, marked with the channel, as the client gets them. */
export function stateFrom(
  { vendor }: ClientDialect,
  { tag }: Channel,
  header: (name: string) => string | null,
): PassedHeaders {
  if (vendor?.stateHeaders === undefined) return none
  const found: Record<string, string> = {}
  for (const name of vendor.stateHeaders) {
    const value = header(name)
    if (value === null || value.length > maxLength || !/^[\x21-\x7e]+$/.test(value)) continue
    found[name] = `${tag}.${value}`
  }
  return found
}

/** The client's headers for this channel: with its own state, and no other's. */
function headersFor(request: RelayRequest, { tag }: Channel): PassedHeaders | undefined {
  const headers = request.address?.headers
  const { stateHeaders } = request.dialect.vendor ?? {}
  if (headers === undefined || stateHeaders === undefined) return headers
  const found = { ...headers }
  for (const name of stateHeaders) {
    const value = found[name]
    if (value?.startsWith(`${tag}.`)) found[name] = value.slice(tagLength + 1)
    else delete found[name]
  }
  return found
}

/** The client's headers that are sent to the vendor: the dialect's, where both speak it, and the trace. */
export function passedTo(
  request: RelayRequest,
  channel: Channel,
  { identity }: Pick<Candidate, 'identity'>,
): PassedHeaders | undefined {
  const own = identity ? headersFor(request, channel) : undefined
  const { traceparent, tracestate } = request.caller
  if (traceparent === null || channel.passesTrace !== true) return own
  return { ...own, traceparent, ...(tracestate && { tracestate }) }
}

/** The tag of the channel whose state the client sends back; null where it sends none. */
export function stateTag({ dialect, address }: RelayRequest): string | null {
  const headers = address?.headers
  if (headers === undefined) return null
  const [name] = (dialect.vendor?.stateHeaders ?? []).filter((each) => headers[each] !== undefined)
  return name === undefined ? null : (headers[name]?.slice(0, tagLength) ?? null)
}
