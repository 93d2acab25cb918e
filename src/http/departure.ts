// How the listener takes leave of its connections: each ends with a reply, none with a reset.

/** No request for this long: whoever has a connection open is not about to use it. */
const quietMs = 100
/** Clients that never fall quiet are not waited for longer. */
const longestMs = 1_000
/** What is read of a body that nobody wanted, so that closing does not reset its connection. */
const mostDiscardedBytes = 1_048_576
const discardMs = 1_000

type Answered = Response | undefined
type Handler<Server> = (request: Request, server: Server) => Answered | Promise<Answered>

export class Departure {
  begun = false
  private latestMs = 0

  /** The same handler; once `begin` was called its replies end their connections. */
  ending<Server>(handle: Handler<Server>): Handler<Server> {
    return (request, server) =>
      this.begun ? this.last(request, handle(request, server)) : handle(request, server)
  }

  /** A request came: who sent it may send another. */
  note(): void {
    if (this.begun) this.latestMs = performance.now()
  }

  begin(): void {
    this.begun = true
  }

  /**
   * Resolves when no connection is about to be used, or after a second. What still rests then is closed by the
   * runtime at once, which resets a connection whose request arrives in that very moment.
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
    // Right behind a look at the sockets, what has arrived is read.
    await new Promise((resolve) => setImmediate(resolve))
  }

  private async last(request: Request, handled: Answered | Promise<Answered>): Promise<Answered> {
    this.note()
    const answered = await handled
    // undefined: it has become a socket.
    if (answered !== undefined && (await isRead(request, answered)))
      answered.headers.set('connection', 'close')
    return answered
  }
}

/** Whether nothing of the request is on its way any more: it would meet a closed connection, and reset it. */
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
