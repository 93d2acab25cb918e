// The tools an adapter works with: requests to its channel's vendor, read whole or streamed, all aborted together.

import { Buffer } from 'node:buffer'
import type { From } from '../../blobs/results.ts'
import type { Channel } from '../../relay/channel.ts'
import type { RelayRequest, RelayRooms } from '../../relay/request.ts'
import { TokenMissing, TokenRefused } from '../../relay/tokens.ts'
import { NotFetched } from '../../safe-fetch/safe-fetch.ts'
import {
  MediaFault,
  type MediaTools,
  type Payload,
  type VendorCall,
  type VendorHead,
  type VendorReply,
  type VendorStream,
} from '../../vendors/media.ts'
import type { VendorDialect } from '../../wire/dialect.ts'
import type { VendorDialectId } from '../../wire/formats.ts'
import type { JsonValue } from '../../wire/ir.ts'
import { BufferedReply } from './buffered-reply.ts'
import { mediaTypeOf } from './raw.ts'

/** A longer JSON reply is refused: it would have to be parsed in memory. */
const maxJsonBytes = 16_777_216

interface ToolsOptions {
  readonly rooms: RelayRooms
  readonly request: Pick<RelayRequest, 'media'>
  readonly channel: Channel
  readonly dialect: VendorDialect
  readonly connectMs: number
  readonly sendIdleMs: number
}

/** Everything that runs for one attempt. */
export class MediaWork implements MediaTools {
  readonly baseUrl: string
  readonly nowMs = Date.now()
  private readonly options: ToolsOptions
  private readonly underWay = new Set<BufferedReply>()
  /** How the vendor's results are fetched. */
  readonly from: From
  private readonly leaving = new AbortController()
  private readonly over = Promise.withResolvers<never>()
  private isOver = false
  /** Of the files that the client named and that were fetched. */
  private namedBytes = 0
  /** Whether the vendor was asked anything. */
  hasAsked = false

  constructor(options: ToolsOptions) {
    this.options = options
    this.baseUrl = options.channel.baseUrl
    this.from = { signal: this.leaving.signal, home: new URL(this.baseUrl).origin }
    // Nobody may be awaiting it when it rejects.
    this.over.promise.catch(() => undefined)
  }

  get spool() {
    const { media } = this.options.request
    if (media === undefined) throw new Error('this request has no spool')
    return media.spool
  }

  addressOf(dialect: VendorDialectId, model: string): string {
    return this.options.channel.address({ dialect, model, stream: false })
  }

  /** Ends everything that runs; whoever waits for it gets an error. */
  letGo(): void {
    if (this.isOver) return
    this.isOver = true
    for (const reply of this.underWay) reply.stop()
    this.leaving.abort()
    this.over.reject(new MediaFault({ kind: 'cut', message: 'the request has ended' }))
  }

  async ask(call: VendorCall): Promise<VendorReply> {
    const stream = await this.open(call)
    const keeper = this.spool.keeper(typeOf(stream))
    for await (const chunk of stream.chunks) keeper.push(chunk)
    return new Reply(stream, keeper.end())
  }

  async open(call: VendorCall): Promise<VendorStream> {
    const { rooms, channel, connectMs, sendIdleMs } = this.options
    const segments = call.body ?? []
    // A signed call goes to an address that the vendor's file made or checked, in a private network too.
    const elsewhere =
      call.signed !== true && new URL(call.url).origin !== new URL(this.baseUrl).origin
    const address = elsewhere ? await this.judged(call.url) : undefined
    const destination = channel.reach(call, address)
    const header = await this.authorization()
    const authorized =
      header === undefined || elsewhere
        ? destination
        : { ...destination, head: withAuthorization(destination.head, header) }
    if (this.isOver) throw new MediaFault({ kind: 'cut', message: 'the request has ended' })
    this.hasAsked = true
    for (const each of this.underWay) if (each.isOver) this.underWay.delete(each)
    const reply = new BufferedReply()
    this.underWay.add(reply)
    // A POST may start costly work, which must not be sent twice; a GET may be.
    const onKept = call.method === 'POST' ? ('avoid' as const) : undefined
    const dialled = { destination: authorized, segments, connectMs, sendIdleMs, onKept }
    reply.carriedBy(rooms.dialer.open(dialled, reply))
    const replied = await reply.replied
    if (replied.status === 401 && header !== undefined) channel.tokens?.drop(header)
    return { ...replied, chunks: reply.chunks() }
  }

  /** For a channel whose key only obtains a token. Its refusal counts as one of the vendor. */
  private async authorization(): Promise<string | undefined> {
    const { rooms, channel } = this.options
    try {
      return await this.race(Promise.resolve(channel.tokens?.header(rooms.dialer, this.nowMs)))
    } catch (error) {
      if (error instanceof TokenMissing) throw new MediaFault(error.fault)
      if (!(error instanceof TokenRefused)) throw error
      throw new MediaFault({ kind: 'credentials', message: error.message })
    }
  }

  faultOf(reply: VendorReply): MediaFault {
    const { dialect, channel } = this.options
    const { payload, status } = reply
    const body = Buffer.from(payload.read(0, Math.min(payload.size, 65_536))).toString('utf8')
    const fault = dialect.vendor.fault(status, (name) => reply.header(name), body)
    return new MediaFault(channel.vendor.quirks.refine?.(fault, status, body) ?? fault)
  }

  async fetch(url: string): Promise<Payload> {
    const { results } = this.options.rooms
    try {
      // Not by way of `from`: the vendor's own origin may be closed to clients.
      const from = { signal: this.leaving.signal, namedBytes: this.namedBytes }
      const payload = await this.race(results.fetchInto(url, this.spool, from))
      this.namedBytes += payload.size
      return payload
    } catch (error) {
      if (!(error instanceof NotFetched)) throw error
      throw unreadable(error.message)
    }
  }

  wait(ms: number): Promise<void> {
    return this.race(new Promise<void>((resolve) => setTimeout(resolve, ms)))
  }

  private async judged(url: string): Promise<string> {
    try {
      return await this.race(this.options.rooms.results.judge(url))
    } catch (error) {
      throw unfetched(error)
    }
  }

  private race<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.over.promise])
  }
}

class Reply implements VendorReply {
  readonly status: number
  readonly payload: Payload
  private readonly from: VendorHead

  constructor(from: VendorHead, payload: Payload) {
    this.from = from
    this.status = from.status
    this.payload = payload
  }

  header(name: string): string | null {
    return this.from.header(name)
  }

  json(): JsonValue {
    const { payload } = this
    if (payload.size > maxJsonBytes) throw unreadable('the reply is too long')
    const text = Buffer.from(payload.read(0, payload.size)).toString('utf8')
    try {
      return JSON.parse(text) as JsonValue
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      throw unreadable('the reply is not JSON')
    }
  }
}

function unreadable(message: string): MediaFault {
  return new MediaFault({ kind: 'unreadable', message })
}

/** The vendor's result lies where it cannot be fetched: the vendor's fault, not the client's. */
function unfetched(error: unknown): unknown {
  if (!(error instanceof NotFetched)) return error
  return unreadable(`the vendor's result: ${error.message}`)
}

/** The media type of a reply, in lower case, without parameters. */
export function typeOf(head: VendorHead): string {
  return mediaTypeOf(head.header('content-type') ?? '') || 'application/octet-stream'
}

function withAuthorization(head: string, header: string): string {
  const at = head.indexOf('\r\n') + 2
  return `${head.slice(0, at)}authorization: ${header}\r\n${head.slice(at)}`
}
