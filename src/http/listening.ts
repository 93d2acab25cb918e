// Listens on an address, or says which one cannot be listened on and why: the runtime's message often names neither.

const reasons: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'the port is in use'],
  ['EADDRNOTAVAIL', 'this machine does not have the address'],
  ['EACCES', 'this user may not listen on this port'],
])

/** The address cannot be listened on; the message names it and the reason. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
  readonly isInUse: boolean

  constructor(host: string, port: number, cause: unknown) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    const said = cause instanceof Error ? cause.message : String(cause)
    super(`Cannot listen on ${host}:${port}: ${reasons.get(code) ?? said}`, { cause })
    this.isInUse = code === 'EADDRINUSE'
  }
}

/** Calls `listen`. Throws ListenError where that throws. */
export function listenOn<Listener>(host: string, port: number, listen: () => Listener): Listener {
  try {
    return listen()
  } catch (error) {
    throw new ListenError(host, port, error)
  }
}
