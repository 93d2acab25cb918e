// Tells who sent a request: its address, also behind proxies, and the ids its client gave it.

import { isIP } from 'node:net'
import type { ServerSettings } from '../config/types.ts'
import type { Caller } from '../history/caller.ts'
import { clientApplication } from '../history/client-application.ts'
import { AddressList } from '../identity/address-list.ts'
import type { RequestHeaders } from '../identity/request-headers.ts'

export interface Callers {
  /** `peer`: the address at the other end of the connection; null where the connection is closed already. */
  of(headers: RequestHeaders, peer: string | null): Caller
}

/** Most characters that OpenAI accepts in a client's request id. */
const longestId = 512
const id = /^[\x21-\x7e]+$/
/** W3C Trace Context, section 3.2: versions after 00 may append more fields after a further dash. */
const trace =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-[\x21-\x7e]*)?$/
const longestTrace = 256
const traceState = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/
const longestTraceState = 512
/** Most entries that are read of a list of proxies. */
const mostHops = 32

export function createCallers({
  trustedProxies,
  forwardedHeader,
}: Pick<ServerSettings, 'trustedProxies' | 'forwardedHeader'>): Callers {
  const trusted = trustedProxies.length === 0 ? null : new AddressList(trustedProxies)
  const hopsOf = forwardedHeader === 'forwarded' ? hopsOfForwarded : hopsOfList
  const addressOf = (headers: RequestHeaders, peer: string): string => {
    if (trusted === null) return peer
    const shown = headers.get(forwardedHeader)
    return shown === null ? peer : farthest(peer, hopsOf(shown), trusted)
  }
  return {
    of(headers, peer) {
      const traceparent = traceOf(headers.get('traceparent'))
      return {
        address: peer === null ? null : addressOf(headers, plain(peer)),
        requestId: idOf(headers),
        traceparent,
        tracestate: traceparent === null ? null : traceStateOf(headers.get('tracestate')),
        client: clientApplication(headers.get('user-agent')),
        tag: headers.get('x-tollgate-tag') || null,
      }
    },
  }
}

/** The client's own request id, from OpenAI's header or else the usual one; null where it is none or malformed. */
function idOf(headers: RequestHeaders): string | null {
  const shown = headers.get('x-client-request-id') ?? headers.get('x-request-id')
  return shown !== null && shown.length <= longestId && id.test(shown) ? shown : null
}

function traceOf(shown: string | null): string | null {
  if (shown === null || shown.length > longestTrace || !trace.test(shown)) return null
  // Version 00 ends with the flags: nothing may follow.
  return shown.startsWith('00') && shown.length > 55 ? null : shown
}

/** W3C Trace Context, section 3.3: the list is passed on whole or not at all. */
function traceStateOf(shown: string | null): string | null {
  return shown !== null && shown.length <= longestTraceState && traceState.test(shown)
    ? shown
    : null
}

/**
 * Each proxy appends the address it received the request from. Read from the end, the first address that is not a
 * trusted proxy is the client; entries before it are that client's claim and prove nothing.
 */
function farthest(peer: string, hops: readonly string[], trusted: AddressList): string {
  let known = peer
  for (let at = hops.length - 1; at >= 0 && trusted.has(known); at -= 1) {
    const next = bare(hops[at] ?? '')
    if (next === null) break
    known = next
  }
  return known
}

/** `X-Forwarded-For: client, proxy`. */
function hopsOfList(text: string): readonly string[] {
  return text.split(',').slice(-mostHops)
}

/** `Forwarded: for=192.0.2.60;proto=http, for="[2001:db8::1]:4711"` (RFC 7239). */
function hopsOfForwarded(text: string): readonly string[] {
  return hopsOfList(text).map((element) => /(?:^|;)\s*for="?([^;"]*)/i.exec(element)?.[1] ?? '')
}

/** An address without port and brackets; null where the text is no address, such as `unknown` or a host name. */
function bare(shown: string): string | null {
  const text = shown.trim()
  const found = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+)(?::\d+)?$/.exec(text)?.[1]
  const address = plain(found ?? text)
  return isIP(address) === 0 ? null : address
}

/** Writes an IPv4 address that the system shows in IPv6 form (`::ffff:`) as plain IPv4. */
function plain(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
}
