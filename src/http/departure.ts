// Closes the listener's connections at shutdown: each ends after a reply, none is reset.

/** After this long without a request, clients with open connections are taken not to be about to send one. */
const quietMs = 100
/** Longest wait for clients to fall quiet. */
const longestMs = 1_000
/** Most bytes read of a body that nobody needs: closing a connection with unread bytes resets it. */
const mostDiscardedBytes = 1_048_576
const discardMs = 1_000

type Answered = Response | undefined
type Handler<Server> = (request: Request, server: Server) => Answered | Promise<Answered>

export class Departure {
  begun = false
  private latestMs = 0

  /** Wraps a handler: after `begin`, its replies close their connections. */
  ending<Server>(handle: Handler<Server>): Handler<Server> {
    return (request, server) =>
      this.begun ? this.last(request, handle(request, server)) : handle(request, server)
  }

  /** Notes that a request arrived: the client that sent it may send another. */
  note(): void {
    if (this.begun) this.latestMs = performance.now()
  }

  begin(): void {
    this.begun = true
  }

  /**
   * Resolves when no client is about to use its connection, or after a second. The runtime then closes idle connections
   * at once, which resets one whose request arrives at that very moment.
   */
  async quiet(): Promise<void> {
    const sinceMs = performance.now()
    this.latestMs = sinceMs
    for (;;) {
      const nowMs = performance.now()
      const untilMs = Math.min(this.latestMs + quietMs, sinceMs + longestMs)
      if (nowMs >= untilMs) break
      await new Promise((resolve) => setTimeout(resolve, untilMs - nowMs))
    }
    // One more turn of the event loop reads what arrived meanwhile.
    await new Promise((resolve) => setImmediate(resolve))
  }

  private async last(request: Request, handled: Answered | Promise<Answered>): Promise<Answered> {
    this.note()
    const answered = await handled
    // undefined: the request became a WebSocket.
    if (answered !== undefined && (await isRead(request, answered)))
      answered.headers.set('connection', 'close')
    return answered
  }
}

/** Whether the whole request has arrived: bytes that reach a closed connection reset it. */
async function isRead(request: Request, { ok }: Response): Promise<boolean> {
  if (request.body === null || (request.bodyUsed && ok)) return true
  const declared = Number(request.headers.get('content-length') ?? Number.POSITIVE_INFINITY)
  if (declared > mostDiscardedBytes) return false
  if (request.bodyUsed) return true
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), discardMs)
  const read = request.arrayBuffer().then(
    () => true,
    () => false,
  )
  try {
    return await Promise.race([read, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
