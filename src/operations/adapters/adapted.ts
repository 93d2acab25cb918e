// A call through a vendor's adapter, for operations the vendor serves in its own form; the attempt sees one exchange.

import type { Fault } from '../../errors.ts'
import { GatewayError } from '../../errors.ts'
import type { AttemptHandler } from '../../relay/operation.ts'
import { type MediaAdapter, type MediaCall, MediaFault } from '../../vendors/media.ts'
import type { Exchange } from '../../vendors/transport.ts'
import { refuseUnhosted } from '../images/write.ts'
import type { MediaWork } from './tools.ts'
import { writeReply } from './write.ts'
import type { WriteRooms } from './written.ts'

interface AdaptedWork {
  readonly adapter: MediaAdapter
  readonly call: MediaCall
  readonly work: MediaWork
  readonly rooms: WriteRooms
}

export function openAdapted(adapted: AdaptedWork, handler: AttemptHandler): Exchange {
  const exchange = new Adapted(adapted, handler)
  // The handler is not called before this function returns.
  queueMicrotask(() => void exchange.run())
  return exchange
}

class Adapted implements Exchange {
  private readonly adapted: AdaptedWork
  private readonly handler: AttemptHandler
  private aborted = false
  private paused: PromiseWithResolvers<void> | null = null

  constructor(adapted: AdaptedWork, handler: AttemptHandler) {
    this.adapted = adapted
    this.handler = handler
  }

  pause(): void {
    this.paused ??= Promise.withResolvers<void>()
  }

  resume(): void {
    this.paused?.resolve()
    this.paused = null
  }

  abort(): void {
    this.aborted = true
    this.adapted.work.letGo()
    this.resume()
  }

  async run(): Promise<void> {
    try {
      await this.serve()
    } catch (error) {
      if (this.aborted) return
      if (error instanceof GatewayError && !this.adapted.work.hasAsked)
        this.handler.unsayable(error)
      else this.handler.failed(faultOf(error))
    } finally {
      this.adapted.work.letGo()
    }
  }

  private async serve(): Promise<void> {
    const { adapter, call, work, rooms } = this.adapted
    refuseUnhosted(call, rooms.results)
    const reply = await adapter.serve(call, work)
    const { type, chunks, usage } = await writeReply(reply, call, rooms)
    if (this.aborted) return
    if (reply.dropped !== undefined) this.handler.dropped(reply.dropped)
    this.handler.head(200, (name) => (name === 'content-type' ? type : null))
    if (reply.kind === 'images' && reply.usage !== null) this.handler.metered(reply.usage)
    let sinceTurn = 0
    for await (const chunk of chunks) {
      if (this.paused !== null) await this.paused.promise
      if (this.aborted) return
      this.handler.bytes(chunk)
      sinceTurn += chunk.length
      if (sinceTurn <= turnBytes) continue
      sinceTurn = 0
      await turn()
    }
    if (this.aborted) return
    const reported = usage?.() ?? null
    if (reported !== null) this.handler.metered(reported)
    this.handler.end()
  }
}

/** After this many bytes it yields to the event loop: chunks from memory or disk never wait by themselves. */
const turnBytes = 262_144

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** The fault for an error of the adapter. A bug in the gateway is reported, and fails the attempt too. */
function faultOf(error: unknown): Fault {
  if (error instanceof MediaFault) return error.fault
  if (error instanceof GatewayError) {
    const { param, shownCode } = error.detail
    const code = shownCode === undefined ? {} : { code: shownCode }
    return { kind: 'rejected', message: error.message, param: param ?? null, ...code }
  }
  reportError(error)
  return { kind: 'unreadable', message: 'the gateway could not read the reply' }
}
