// A vendor made of a raw socket: it answers each request by a script, so it can also break every rule of HTTP.

import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'

/** One request as it came in, and how its connection ended. Times are `performance.now()`. */
export interface Received {
  readonly method: string
  readonly target: string
  /** By lower-case name; repeated ones are joined by a comma. */
  readonly headers: ReadonlyMap<string, string>
  readonly head: string
  readonly body: Buffer
  /** The `model` of a JSON body, '' if there is none. */
  readonly model: string
  /** Connections count from 1: two requests with the same number shared a connection. */
  readonly connection: number
  readonly atMs: number
  /** When the gateway closed or reset the connection; null while it has not. */
  goneMs: number | null
  goneBy: 'end' | 'reset' | null
  /** Resolves when the gateway has closed or reset the connection. */
  readonly gone: Promise<void>
}

/** What a script works with: the connection of one request. */
export interface Turn {
  readonly request: Received
  readonly socket: Socket
  /** Resolves when the connection is closed, by either side. */
  readonly closed: Promise<void>
}

export type Step = (turn: Turn) => void | Promise<void>
export type Script = readonly Step[]

/** Uses the script of the n-th request of its model, and repeats the last one. */
export interface Upstream extends AsyncDisposable {
  readonly port: number
  /** `http://127.0.0.1:PORT/v1`, or https. */
  readonly url: string
  readonly requests: readonly Received[]
  /** Connections now open, and accepted since the start. */
  readonly open: number
  readonly accepted: number
  /** The scripts for requests of a model ('*' for any other), one for each request; the last one is repeated. */
  on(model: string, ...scripts: Script[]): void
  /** Requests for one model. */
  of(model: string): readonly Received[]
  /** Resolves with the n-th request (from 1) of all. */
  arrived(n: number): Promise<Received>
  close(): Promise<void>
}

/** Sends bytes and waits until the socket accepted them. */
export function send(bytes: string | Uint8Array): Step {
  return ({ socket }) => write(socket, bytes)
}

export function wait(ms: number): Step {
  return ({ closed }) => Promise.race([new Promise<void>((done) => setTimeout(done, ms)), closed])
}

/** Continues when the test says so, or when the connection is closed. */
export function until(event: Promise<unknown>): Step {
  return async ({ closed }) => {
    await Promise.race([event, closed])
  }
}

/** Sends piece by piece with a pause between two. */
export function drip(bytes: string | Uint8Array, pieceBytes: number, everyMs: number): Step {
  return async (turn) => {
    const whole = Buffer.from(bytes)
    for (let at = 0; at < whole.length && !turn.socket.destroyed; at += pieceBytes) {
      await write(turn.socket, whole.subarray(at, at + pieceBytes))
      await wait(everyMs)(turn)
    }
  }
}

/** Sends the same bytes without end, as fast as they are read or with a pause. */
export function forever(bytes: string | Uint8Array, everyMs = 0): Step {
  return async (turn) => {
    while (!turn.socket.destroyed) {
      await write(turn.socket, bytes)
      await wait(everyMs)(turn)
    }
  }
}

/** Closes the sending side normally. */
export const halfClose: Step = ({ socket }) => {
  socket.end()
}

/**
 * Cuts the connection with a TCP reset, once the other side has read the data, which a reset could overtake otherwise.
 */
export const reset: Step = async ({ socket }) => {
  const { localPort = 0, remotePort = 0 } = socket
  while (!socket.destroyed && waitingBytes(localPort, remotePort)) {
    await new Promise((done) => setTimeout(done, 1))
  }
  socket.resetAndDestroy()
}

/** Whether bytes between two ports of this machine wait to be sent or read (`/proc/net/tcp`, tx_queue and rx_queue). */
function waitingBytes(one: number, other: number): boolean {
  const [a, b] = [one, other].map((port) => port.toString(16).toUpperCase().padStart(4, '0'))
  return readFileSync('/proc/net/tcp', 'latin1')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = '', remote = '']) => {
      const pair = `${local.slice(-4)} ${remote.slice(-4)}`
      return pair === `${a} ${b}` || pair === `${b} ${a}`
    })
    .some(([, , , , queues = '']) => queues !== '00000000:00000000')
}

/** Sends nothing more until the other side closes. */
export const hang: Step = ({ closed }) => closed

/** The head of a reply; fields as they are sent on the connection. */
export function head(status: number | string, ...fields: string[]): string {
  return `HTTP/1.1 ${status}${typeof status === 'number' ? ' X' : ''}\r\n${fields.map((field) => `${field}\r\n`).join('')}\r\n`
}

/** A whole reply with a correct length. */
export function reply(status: number | string, body: string | Uint8Array, ...fields: string[]) {
  const bytes = Buffer.from(body)
  const type = fields.some((field) => /^content-type:/i.test(field))
    ? []
    : ['content-type: application/json']
  return send(
    Buffer.concat([
      Buffer.from(head(status, ...type, `content-length: ${bytes.length}`, ...fields)),
      bytes,
    ]),
  )
}

export function json(status: number | string, value: unknown, ...fields: string[]): Step {
  return reply(status, JSON.stringify(value), ...fields)
}

/** One chunk of the chunked coding. */
export function chunk(bytes: string | Uint8Array): Buffer {
  const data = Buffer.from(bytes)
  return Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')])
}

export const lastChunk = '0\r\n\r\n'

/** The head of an event stream in the chunked coding. */
export const sseHead = head(
  200,
  'content-type: text/event-stream; charset=utf-8',
  'transfer-encoding: chunked',
)

/** One event as a separate chunk. */
export function event(data: unknown): Buffer {
  return chunk(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)
}

type Delta = Readonly<Record<string, unknown>>

/** A chunk of a chat stream, as vendors send it. */
export function delta(part: Delta, finish: string | null = null, more: Delta = {}) {
  return {
    id: 'chatcmpl-upstream',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'served',
    choices: [{ index: 0, delta: part, finish_reason: finish }],
    ...more,
  }
}

export const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 }

/** A whole chat reply. */
export function chatReply(content = 'Hello', more: Delta = {}) {
  return {
    id: 'chatcmpl-upstream',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'served',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage,
    ...more,
  }
}

/** Text pieces of a stream, each as an event. */
export function words(...pieces: string[]): Buffer {
  return Buffer.concat(pieces.map((content) => event(delta({ content }))))
}

/** Finish, usage, `[DONE]` and the last chunk. */
export const streamEnd = Buffer.concat([
  event(delta({}, 'stop')),
  event({ ...delta({}), choices: [], usage }),
  event('[DONE]'),
  Buffer.from(lastChunk),
])

/** A chat stream without faults. */
export function goodStream(...pieces: string[]): Script {
  const role = event(delta({ role: 'assistant', content: '' }))
  return [send(Buffer.concat([Buffer.from(sseHead), role, words(...pieces), streamEnd]))]
}

/** Answers chat whole or streamed, as requested. */
export const wellBehaved: Script = [
  async (turn) => {
    const streamed = /"stream"\s*:\s*true/.test(turn.request.body.toString('utf8'))
    const script = streamed ? goodStream('Hello', ' there') : [json(200, chatReply())]
    for (const step of script) await step(turn)
  },
]

export async function startUpstream(tls?: TlsOptions): Promise<Upstream> {
  const upstream = new RawUpstream(tls)
  await upstream.listen()
  return upstream
}

function write(socket: Socket, bytes: string | Uint8Array): Promise<void> {
  if (socket.destroyed || !socket.writable) return Promise.resolve()
  return new Promise((done) => {
    const settle = () => {
      socket.off('close', settle)
      done()
    }
    socket.once('close', settle)
    socket.write(bytes, settle)
  })
}

class RawUpstream implements Upstream {
  readonly requests: Received[] = []
  accepted = 0
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #scripts = new Map<string, Script[]>([['*', [wellBehaved]]])
  readonly #waiting: (() => void)[] = []
  readonly #scheme: string

  constructor(tls?: TlsOptions) {
    const take = (socket: Socket) => this.#take(socket)
    this.#scheme = tls === undefined ? 'http' : 'https'
    // Half-open: a gateway that ends its side must not end this side before the script does.
    this.#server =
      tls === undefined
        ? createServer({ allowHalfOpen: true, noDelay: true }, take)
        : createTlsServer(tls, take)
    this.#server.on('tlsClientError', () => undefined)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${this.port}/v1`
  }

  get open(): number {
    return this.#sockets.size
  }

  listen(): Promise<void> {
    return new Promise((done, fail) => {
      this.#server.once('error', fail)
      this.#server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, done)
    })
  }

  on(model: string, ...scripts: Script[]): void {
    this.#scripts.set(model, scripts)
  }

  of(model: string): readonly Received[] {
    return this.requests.filter((request) => request.model === model)
  }

  async arrived(n: number): Promise<Received> {
    for (;;) {
      const found = this.requests[n - 1]
      if (found !== undefined) return found
      await new Promise<void>((wake) => this.#waiting.push(wake))
    }
  }

  close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    return new Promise((done) => {
      this.#server.close(() => done())
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #take(socket: Socket): void {
    const connection = new Incoming(socket, ++this.accepted, (turn) => this.#answer(turn))
    this.#sockets.add(socket)
    socket.on('close', () => {
      this.#sockets.delete(socket)
      connection.gone(null)
    })
  }

  async #answer(turn: Turn): Promise<void> {
    this.requests.push(turn.request)
    for (const wake of this.#waiting.splice(0)) wake()
    const name = this.#scripts.has(turn.request.model) ? turn.request.model : '*'
    const scripts = this.#scripts.get(name) ?? []
    const script = scripts.length > 1 ? scripts.shift() : scripts[0]
    for (const step of script ?? []) {
      if (turn.socket.destroyed) return
      await step(turn)
    }
  }
}

/** Reads requests from one connection, one at a time. */
class Incoming {
  readonly #socket: Socket
  readonly #number: number
  readonly #answer: (turn: Turn) => Promise<void>
  readonly #closed = Promise.withResolvers<void>()
  #chunks: Buffer[] = []
  #byteCount = 0
  /** Nothing is parsed before this many bytes have arrived. */
  #neededBytes = 1
  #last: Received | null = null
  #lastGone: (() => void) | null = null
  #busy = false

  constructor(socket: Socket, number: number, answer: (turn: Turn) => Promise<void>) {
    this.#socket = socket
    this.#number = number
    this.#answer = answer
    socket.on('data', (bytes: Buffer) => {
      this.#chunks.push(bytes)
      this.#byteCount += bytes.length
      void this.#read()
    })
    socket.on('end', () => {
      this.gone('end')
      // The gateway never half-closes: a connection that it ended is not read any more.
      socket.end()
    })
    socket.on('error', () => this.gone('reset'))
  }

  gone(how: 'end' | 'reset' | null): void {
    if (this.#last !== null && this.#last.goneMs === null && how !== null) {
      this.#last.goneMs = performance.now()
      this.#last.goneBy = how
      this.#lastGone?.()
    }
    if (how === null) this.#closed.resolve()
  }

  async #read(): Promise<void> {
    if (this.#busy || this.#byteCount < this.#neededBytes) return
    const bytes = Buffer.concat(this.#chunks)
    this.#chunks = [bytes]
    const end = bytes.indexOf('\r\n\r\n')
    if (end === -1) return
    const headText = bytes.toString('latin1', 0, end)
    const headers = fieldsOf(headText)
    const whole = end + 4 + Number(headers.get('content-length') ?? 0)
    this.#neededBytes = whole
    if (bytes.length < whole) return
    this.#chunks = bytes.length > whole ? [bytes.subarray(whole)] : []
    this.#byteCount = bytes.length - whole
    this.#neededBytes = 1
    const request = this.#received(headText, headers, Buffer.from(bytes.subarray(end + 4, whole)))
    this.#busy = true
    await this.#answer({ request, socket: this.#socket, closed: this.#closed.promise })
    this.#busy = false
    if (this.#chunks.length > 0) void this.#read()
  }

  #received(headText: string, headers: ReadonlyMap<string, string>, body: Buffer): Received {
    const [method = '', target = ''] = headText.split(' ', 2)
    const { promise, resolve } = Promise.withResolvers<void>()
    const request: Received = {
      method,
      target,
      headers,
      head: headText,
      body,
      model: /"model"\s*:\s*"([^"]*)"/.exec(body.toString('latin1'))?.[1] ?? '',
      connection: this.#number,
      atMs: performance.now(),
      goneMs: null,
      goneBy: null,
      gone: promise,
    }
    this.#last = request
    this.#lastGone = resolve
    return request
  }
}

function fieldsOf(headText: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>()
  for (const line of headText.split('\r\n').slice(1)) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    const before = fields.get(name)
    fields.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return fields
}
