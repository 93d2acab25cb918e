// A channel resolved at construction: its vendor, the head of its signed requests, and what it changes in them.

import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { lanesOf } from '../config/channel-keys.ts'
import { secretHeader } from '../config/describe.ts'
import type { ChannelConfig, TimeoutSettings } from '../config/types.ts'
import { type Fault, faultTable } from '../errors.ts'
import { authorizationLine, type Destination, type ProxyAddress } from '../upstream/connect.ts'
import type { VendorCall } from '../vendors/media.ts'
import type { Call, Vendor } from '../vendors/vendor.ts'
import { type BodyChanges, bodyChanges } from './body-changes.ts'
import { Tokens } from './tokens.ts'

export interface Channel {
  readonly id: string
  /** Stands for the channel in state that clients keep, so that its name stays private. */
  readonly tag: string
  readonly vendor: Vendor
  /** Of its vendor; absent: none. */
  readonly options?: ChannelConfig['options']
  readonly timeouts: Partial<TimeoutSettings>
  /** Whether its vendor is sent the client's traceparent and tracestate. */
  readonly passesTrace?: boolean
  /** What it changes in a request for text; absent: nothing. */
  readonly changes?: BodyChanges
  /** Statuses of its vendor for which it says whether another attempt is made; absent: the usual rule. */
  readonly retries?: ReadonlyMap<number, boolean>
  /** Texts that must never reach a client or a log, even in a vendor's error. */
  readonly secrets: readonly string[]
  /** Where to send a call. `passed`: headers of the client that replace the channel's of the same name. */
  destination(call: Call, passed?: PassedHeaders): Destination
  /** The part of every address before the vendor's own paths, without a trailing slash. */
  readonly baseUrl: string
  /** The address at which the vendor takes such a call. */
  address(call: Call): string
  /**
   * Where an adapter asks: signed at the base address's origin, or as `call.signed` says. `address`: IP to connect to.
   */
  reach(call: VendorCall, address?: string): Destination
  /** A call over a WebSocket: the head of the handshake up to its key. */
  socket(call: Call, passed?: PassedHeaders): Destination
  /** The same as `destination`, with a signature of this body; only where the vendor needs one (`Signature.sign`). */
  signed?(call: Call, body: Uint8Array, nowMs: number): Destination
  /** Where the vendor needs a short-lived token with each call. */
  readonly tokens?: Tokens
}

/** Headers to send along; names in lower case. */
export type PassedHeaders = Readonly<Record<string, string>>

/** The most models whose destinations one channel caches; those of further models are computed each time. */
const maxDestinations = 1_024

/**
 * Resolves a configured channel. Throws where the vendor needs an address the operator did not give. The destination of
 * each kind of call is computed once and cached.
 */
export function createChannel(config: ChannelConfig, vendor: Vendor): Channel {
  const baseUrl = config.baseUrl ?? vendor.baseUrl
  if (baseUrl === null) throw new Error(`channel ${config.id}: vendor ${vendor.id} needs a baseUrl`)
  const settings = {
    baseUrl: versioned(baseUrl.replace(/\/+$/, ''), vendor),
    key: config.key,
    options: config.options,
  }
  const checked = (headers: readonly (readonly [name: string, value: string])[]) =>
    headers.map(([name, value]) => [name, checkedHeader(config.id, value)] as const)
  const authority = vendor.signature.authorize?.(settings) ?? null
  const usual = vendor.signature.headers(settings)
  const headers = checked(headersOf(config, usual, authority !== null))
  const signature = headerLines(headers)
  const through = wayOf(config)
  const usually = kept((call) => through(destinationOf(vendor.address(call, settings), signature)))
  return {
    ...(authority !== null && { tokens: new Tokens(authority, through) }),
    id: config.id,
    tag: createHash('sha256').update(config.id).digest('hex').slice(0, 8),
    vendor,
    options: config.options,
    baseUrl: settings.baseUrl,
    timeouts: config.timeouts,
    passesTrace: config.passTrace === true,
    ...(config.parameters && { changes: bodyChanges(config.parameters) }),
    ...(config.retryStatuses && { retries: retriesOf(config.retryStatuses) }),
    secrets: secretsOf(config),
    destination(call, passed) {
      if (passed === undefined) return usually(call)
      const given = Object.entries(passed)
      if (given.length === 0) return usually(call)
      const own = headers.filter(([name]) => !Object.hasOwn(passed, name))
      const lines = headerLines([...own, ...given])
      return through(destinationOf(vendor.address(call, settings), lines))
    },
    address: (call) => vendor.address(call, settings),
    reach(call, address) {
      const { method, url, contentType = 'application/json' } = call
      const own = call.signed ?? new URL(url).origin === new URL(settings.baseUrl).origin
      const further = headerLines(checked(call.headers ?? []))
      const token = own ? (vendor.signature.token?.(settings, Date.now()) ?? null) : null
      const bearer =
        token === null ? '' : headerLines(checked([['authorization', `Bearer ${token}`]]))
      const said = (own ? signature + bearer : '') + further
      const made = destinationOf(url, said, method, contentType, accepted(call))
      if (address === undefined) return through(made)
      return through({ ...made, address, origin: `${made.origin} ${address}` }, true)
    },
    socket(call, passed = {}) {
      const own = headers.filter(([name]) => !Object.hasOwn(passed, name))
      const lines = headerLines([...own, ...checked(Object.entries(passed))])
      return through(socketDestinationOf(vendor.address(call, settings), lines), true)
    },
    ...(vendor.signature.sign !== undefined && {
      signed(call: Call, body: Uint8Array, nowMs: number) {
        const url = vendor.address(call, settings)
        const own = vendor.signature.sign?.({ method: 'POST', url, body }, settings, nowMs) ?? []
        return through(destinationOf(url, signature + headerLines(checked(own))))
      },
    }),
  }
}

/** Anthropic's and Google's own clients take base addresses without the version. */
function versioned(baseUrl: string, { version }: Vendor): string {
  return version === undefined || /\/v\d\w*$/.test(baseUrl) ? baseUrl : `${baseUrl}/${version}`
}

/** Computes the destination of each kind of call once. */
function kept(make: (call: Call) => Destination): (call: Call) => Destination {
  const byModel = new Map<string, { readonly call: Call; readonly made: Destination }[]>()
  return (call) => {
    const { dialect, model, stream, counts } = call
    const known = byModel.get(model)
    for (const { call: one, made } of known ?? [])
      if (one.dialect === dialect && one.stream === stream && one.counts === counts) return made
    const made = make(call)
    if (known !== undefined) known.push({ call, made })
    else if (byModel.size < maxDestinations) byModel.set(model, [{ call, made }])
    return made
  }
}

function retriesOf({
  add = [],
  remove = [],
}: NonNullable<ChannelConfig['retryStatuses']>): ReadonlyMap<number, boolean> {
  return new Map([
    ...add.map((status) => [status, true] as const),
    ...remove.map((status) => [status, false] as const),
  ])
}

/** Whether another channel may be tried after this fault at this one. */
export function failsOver({ retries }: Channel, { kind, status }: Fault): boolean {
  const said = status === undefined ? undefined : retries?.get(status)
  return said ?? faultTable[kind].failover
}

/** The vendor's headers, replaced by the channel's own of the same name. */
function headersOf(
  { headers = {} }: ChannelConfig,
  usual: readonly (readonly [name: string, value: string])[],
  wantsToken: boolean,
): readonly (readonly [name: string, value: string])[] {
  // A token is sent as `authorization`: there must be only one.
  const said = Object.entries(headers).filter(([name]) => !wantsToken || name !== 'authorization')
  return [...usual.filter(([name]) => headers[name] === undefined), ...said]
}

function headerLines(headers: readonly (readonly [name: string, value: string])[]): string {
  return headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
}

/** Parts of a key, and options, shorter than this are not treated as secrets. */
const leastSecretLength = 16

/** The key, the parts of a composite key, and the options and headers that are secret too. */
function secretsOf({ key, options, headers = {}, proxy }: ChannelConfig): readonly string[] {
  const { secretAccessKey = '', sessionToken = '' } = options
  const sent = Object.entries(headers).flatMap(([name, value]) =>
    // The whole value, and the part behind its scheme: `Bearer ...`.
    secretHeader.test(name) ? [value, ...value.split(' ').slice(1)] : [],
  )
  const parts = [...(key ?? '').split(':').slice(1), secretAccessKey, sessionToken, ...sent]
  const long = parts.filter((part) => part.length >= leastSecretLength)
  const hidden = [...long, ...(proxy === undefined ? [] : secretsOfProxy(proxyAddress(proxy)))]
  return key === null ? hidden : [key, ...hidden]
}

/** The credentials as configured, and as they are sent. */
function secretsOfProxy({ credentials }: ProxyAddress): readonly string[] {
  if (credentials === null) return []
  return [credentials, Buffer.from(credentials, 'utf8').toString('base64')]
}

function checkedHeader(channelId: string, value: string): string {
  // A line break in a key would let it write headers of its own.
  if (/[\r\n\0]/.test(value))
    throw new Error(`channel ${channelId}: its key or a header contains a line break`)
  return Buffer.from(value, 'utf8').toString('latin1')
}

/** How the channel is dialled: through its proxy, where it has one. */
function wayOf({ proxy }: ChannelConfig): (made: Destination, opens?: boolean) => Destination {
  if (proxy === undefined) return (made) => made
  const address = proxyAddress(proxy)
  return (made, opens = false) => throughProxy(made, address, opens)
}

function proxyAddress(proxy: string): ProxyAddress {
  const { hostname, port, username, password } = new URL(proxy)
  const credentials = [username, password].map(decodeURIComponent).join(':')
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 80 : Number(port),
    credentials: credentials === ':' ? null : credentials,
    forwards: false,
  }
}

/** With TLS, or where it `opens` (sockets, checked addresses), the proxy opens a tunnel (CONNECT); else it forwards. */
function throughProxy(made: Destination, proxy: ProxyAddress, opens: boolean): Destination {
  const user = createHash('sha256').update(String(proxy.credentials)).digest('hex').slice(0, 16)
  const origin = `${made.origin} through ${proxy.host}:${proxy.port} ${user}`
  if (made.tls || opens) return { ...made, origin, proxy }
  const [method, path] = made.head.split(' ', 2)
  const rest = made.head.slice(made.head.indexOf(' HTTP/1.1\r\n') + 11)
  const line = `${method} ${made.origin}${path} HTTP/1.1\r\n`
  return {
    ...made,
    origin,
    proxy: { ...proxy, forwards: true },
    head: line + authorizationLine(proxy) + rest,
  }
}

function socketDestinationOf(address: string, signature: string): Destination {
  const plain = destinationOf(address, signature)
  const { host, pathname, search } = new URL(address)
  return {
    ...plain,
    head:
      `GET ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\n${signature}user-agent: tollgate\r\n` +
      'upgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\n',
  }
}

const usualAccept = 'accept: application/json, text/event-stream\r\n'

/** An adapter may set its own `accept`. */
function accepted({ headers = [] }: VendorCall): string {
  return headers.some(([name]) => name === 'accept') ? '' : usualAccept
}

function destinationOf(
  address: string,
  signature: string,
  method = 'POST',
  contentType = 'application/json',
  accept = usualAccept,
): Destination {
  const url = new URL(address)
  const tls = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port === '' ? (tls ? 443 : 80) : Number(url.port)
  return {
    origin: `${url.protocol}//${url.host}`,
    host,
    port,
    tls,
    head:
      `${method} ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n${signature}` +
      `content-type: ${contentType}\r\n${accept}` +
      'accept-encoding: identity\r\nuser-agent: tollgate\r\ncontent-length: ',
  }
}

/** Channels by lane. Throws where a channel's vendor is unknown or lacks what it needs. */
export function createChannels(
  configs: readonly ChannelConfig[],
  vendors: Readonly<Record<string, Vendor>>,
): ReadonlyMap<string, Channel> {
  return new Map(
    configs.flatMap((config) => {
      const vendor = vendors[config.vendor]
      if (vendor === undefined)
        throw new Error(`channel ${config.id}: unknown vendor ${config.vendor}`)
      return lanesOf(config).map(
        ({ lane, key }) => [lane, createChannel({ ...config, key }, vendor)] as const,
      )
    }),
  )
}
