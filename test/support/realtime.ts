// Both ends of realtime sessions for tests: a scripted vendor, and a client that records what it receives.

import { testKey } from './gateway.ts'
import { parseReply, portOf, RawClient, type RawReply } from './socket.ts'

export type Event = Readonly<Record<string, unknown>> & { readonly type: string }

export interface Closed {
  readonly code: number
  readonly reason: string
}

const limitMs = 5_000

/** The received events, in order, and a wait for later ones. */
class EventLog {
  readonly events: Event[] = []
  /** The same as they were sent. */
  readonly texts: string[] = []
  readonly binary: Uint8Array[] = []
  closed: Closed | null = null
  private readonly waiting = new Set<() => void>()

  add(message: string | Uint8Array): void {
    if (typeof message === 'string') {
      this.events.push(JSON.parse(message) as Event)
      this.texts.push(message)
    } else this.binary.push(message)
    this.wake()
  }

  close(closed: Closed): void {
    this.closed ??= closed
    this.wake()
  }

  of(type: string): readonly Event[] {
    return this.events.filter((event) => event.type === type)
  }

  /** Resolves when `met` returns something. Throws after a while. */
  async until<T>(met: () => T | undefined | null | false): Promise<T> {
    const deadlineMs = performance.now() + limitMs
    for (;;) {
      const found = met()
      if (found) return found
      const leftMs = deadlineMs - performance.now()
      if (leftMs <= 0) throw new Error(`not in time: ${JSON.stringify(this.events).slice(-800)}`)
      await this.change(leftMs)
    }
  }

  private change(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.waiting.delete(done)
        resolve()
      }
      const timer = setTimeout(done, timeoutMs)
      this.waiting.add(done)
    })
  }

  private wake(): void {
    for (const done of [...this.waiting]) done()
  }
}

/** One session as its vendor sees it. */
export class VendorSession {
  readonly url: URL
  readonly headers: Headers
  readonly received = new EventLog()
  /** `ping` and `pong`, which are not events of a session. */
  readonly control = new EventLog()
  private socket: Bun.ServerWebSocket<VendorSession> | null = null
  responses = 0

  constructor(request: Request) {
    this.url = new URL(request.url)
    this.headers = request.headers
  }

  opened(socket: Bun.ServerWebSocket<VendorSession>): void {
    this.socket = socket
  }

  send(event: Event): void {
    this.socket?.send(JSON.stringify(event))
  }

  raw(message: string | Uint8Array): number {
    return this.socket?.send(message) ?? 0
  }

  ping(): void {
    this.socket?.ping()
  }

  close(code: number, reason = ''): void {
    this.socket?.close(code, reason)
  }

  terminate(): void {
    this.socket?.terminate()
  }

  /** Bytes that the other side has not read. */
  get buffered(): number {
    return this.socket?.getBufferedAmount() ?? 0
  }

  async until(type: string, count = 1): Promise<Event> {
    return await this.received.until(() => this.received.of(type)[count - 1])
  }

  async closed(): Promise<Closed> {
    return await this.received.until(() => this.received.closed)
  }
}

export const session = {
  type: 'realtime',
  model: 'gpt-realtime-2025-08-28',
  output_modalities: ['audio'],
  max_output_tokens: 'inf',
  instructions: 'Be brief.',
  audio: {
    input: { format: { type: 'audio/pcm', rate: 24_000 } },
    output: { format: { type: 'audio/pcm', rate: 24_000 } },
  },
}

/** 8 of text, of which 4 were cached; 12 of sound; a reply of 3 and 7. */
export const usage = {
  total_tokens: 30,
  input_tokens: 20,
  output_tokens: 10,
  input_token_details: {
    text_tokens: 8,
    audio_tokens: 12,
    cached_tokens: 4,
    cached_tokens_details: { text_tokens: 4, audio_tokens: 0 },
  },
  output_token_details: { text_tokens: 3, audio_tokens: 7 },
}

/** Base64 of this many tokens of speech: 50 ms each at 24 kHz. */
export function speech(tokens: number): string {
  return Buffer.alloc(tokens * 2_400, 7).toString('base64')
}

export type Play = (session: VendorSession, event: Event) => void

/**
 * Answers `response.create` with some speech and its usage, and `session.update` with the settings that are then in
 * force.
 */
export const wellBehaved: Play = (vendor, event) => {
  if (event.type === 'session.update') {
    const changed = { ...session, ...(event['session'] as object) }
    vendor.send({ type: 'session.updated', session: changed })
  }
  if (event.type !== 'response.create') return
  const id = begin(vendor)
  speak(vendor, id, 7)
  end(vendor, id)
}

export function begin(vendor: VendorSession): string {
  vendor.responses += 1
  const id = `resp_${vendor.responses}`
  vendor.send({ type: 'response.created', response: { id, status: 'in_progress' } })
  return id
}

export function speak(vendor: VendorSession, id: string, tokens: number): void {
  const delta = speech(tokens)
  vendor.send({ type: 'response.output_audio.delta', response_id: id, item_id: 'item_1', delta })
}

export function end(vendor: VendorSession, id: string, more: object = {}): void {
  const response = { id, object: 'realtime.response', status: 'completed', usage, ...more }
  vendor.send({ type: 'response.done', event_id: `done_${id}`, response })
}

export interface RealtimeVendor {
  /** The base address of a channel. */
  readonly url: string
  readonly sessions: VendorSession[]
  play: Play
  /** In place of a socket. */
  refusal: ((model: string) => Response | null | Promise<null>) | null
  arrived(n: number): Promise<VendorSession>
  close(): Promise<void>
}

export function startRealtimeVendor(tls?: {
  readonly key: string
  readonly cert: string
}): RealtimeVendor {
  const received = new EventLog()
  const sessions: VendorSession[] = []
  const server = Bun.serve<VendorSession>({
    port: 0,
    hostname: '127.0.0.1',
    ...(tls && { tls }),
    async fetch(request, serving) {
      const model = new URL(request.url).searchParams.get('model') ?? ''
      const refusal = await vendor.refusal?.(model)
      if (refusal != null) return refusal
      const data = new VendorSession(request)
      return serving.upgrade(request, { data }) ? undefined : new Response('', { status: 400 })
    },
    websocket: {
      idleTimeout: 120,
      open(socket) {
        socket.data.opened(socket)
        socket.data.send({ type: 'session.created', event_id: 'event_1', session })
        sessions.push(socket.data)
        received.add('{"type":"arrived"}')
      },
      message(socket, message) {
        const { received: own } = socket.data
        own.add(typeof message === 'string' ? message : new Uint8Array(message))
        const event = own.events.at(-1)
        if (event !== undefined) vendor.play(socket.data, event)
      },
      ping: (socket) => socket.data.control.add('{"type":"ping"}'),
      pong: (socket) => socket.data.control.add('{"type":"pong"}'),
      close: (socket, code, reason) => socket.data.received.close({ code, reason }),
    },
  })
  const vendor: RealtimeVendor = {
    url: `http${tls ? 's' : ''}://127.0.0.1:${server.port}/v1`,
    sessions,
    play: wellBehaved,
    refusal: null,
    arrived: (n) => received.until(() => sessions[n - 1]),
    close: () => server.stop(true),
  }
  return vendor
}

export interface ClientOptions {
  readonly model?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly protocols?: readonly string[]
  readonly key?: string
}

/** A client of sessions. */
export class RealtimeClient {
  readonly received = new EventLog()
  readonly socket: WebSocket

  constructor(url: string, options: ClientOptions = {}) {
    const { model = 'gpt-realtime', protocols, key = testKey } = options
    const address = `${url.replace('http', 'ws')}/v1/realtime?model=${encodeURIComponent(model)}`
    const headers = { authorization: `Bearer ${key}`, ...options.headers }
    // The runtime accepts headers for a socket, which the DOM's types do not include.
    this.socket = new WebSocket(
      address,
      (protocols === undefined ? { headers } : [...protocols]) as string[],
    )
    this.socket.binaryType = 'arraybuffer'
    this.socket.onmessage = ({ data }) =>
      this.received.add(typeof data === 'string' ? data : new Uint8Array(data as ArrayBuffer))
    this.socket.onclose = ({ code, reason }) => this.received.close({ code, reason })
  }

  /** A client that has its session. Throws if it is refused. */
  static async open(url: string, options: ClientOptions = {}): Promise<RealtimeClient> {
    const client = new RealtimeClient(url, options)
    await client.received.until(() => client.received.events.length > 0 || client.received.closed)
    if (client.received.closed !== null)
      throw new Error(`refused: ${client.received.closed.reason}`)
    return client
  }

  send(event: Event): void {
    this.socket.send(JSON.stringify(event))
  }

  async until(type: string, count = 1): Promise<Event> {
    return await this.received.until(() => this.received.of(type)[count - 1])
  }

  /** The n-th event `error`. */
  async error(count = 1): Promise<RealtimeError> {
    return (await this.until('error', count))['error'] as RealtimeError
  }

  async closed(): Promise<Closed> {
    return await this.received.until(() => this.received.closed)
  }

  /** Drops its connection without a close frame. */
  cut(): void {
    // A method of the runtime, which the DOM's types do not include.
    const { socket } = this as unknown as { readonly socket: { terminate(): void } }
    socket.terminate()
  }

  /** Closes normally. */
  async leave(code = 1000, reason = ''): Promise<void> {
    this.socket.close(code, reason)
    await this.closed()
  }
}

export interface RealtimeError {
  readonly type: string
  readonly code: string
  readonly message: string
  readonly param: string | null
  readonly event_id: string | null
}

/** The answer to a handshake, socket or not. */
export async function handshake(
  url: string,
  target: string,
  headers: Readonly<Record<string, string>>,
): Promise<RawReply> {
  const client = await RawClient.open(portOf(url))
  const lines = Object.entries({
    host: '127.0.0.1',
    upgrade: 'websocket',
    connection: 'Upgrade',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  client.send(`GET ${target} HTTP/1.1\r\n${lines.join('')}\r\n`)
  const whole = (text: string) => {
    if (!text.includes('\r\n\r\n')) return false
    const { headers: head, body } = parseReply(text)
    return Buffer.byteLength(body) >= Number(head['content-length'] ?? 0)
  }
  const reply = parseReply(await client.until(whole))
  client.destroy()
  return reply
}
