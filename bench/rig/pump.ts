/** Passes bytes between its clients and one server, and nothing else: the least that a proxy on this runtime takes. */
import { Buffer } from 'node:buffer'

interface End {
  /** null: not connected yet. */
  other: Bun.Socket<End> | null
  /** Bytes that could not be written to this end yet. */
  waiting: Buffer[]
  /** The other end has closed: this one does too, once it has all bytes. */
  ends: boolean
}

const [port = 0, serverPort = 0] = process.argv.slice(2).map(Number)
if (!(port > 0 && serverPort > 0)) throw new Error('usage: pump.ts PORT SERVER_PORT')

const newEnd = (other: Bun.Socket<End> | null): End => ({ other, waiting: [], ends: false })

/** Writes what the socket takes, keeps a copy of the rest, and pauses the other end meanwhile. */
function write(socket: Bun.Socket<End>, chunk: Buffer): void {
  const { data } = socket
  const written = data.waiting.length > 0 ? 0 : Math.max(0, socket.write(chunk))
  if (written === chunk.length) return
  data.waiting.push(Buffer.from(chunk.subarray(written)))
  data.other?.pause()
}

function drained(socket: Bun.Socket<End>): void {
  const { data } = socket
  const chunks = data.waiting
  data.waiting = []
  for (const chunk of chunks) write(socket, chunk)
  if (data.waiting.length > 0) return
  data.other?.resume()
  if (data.ends) socket.end()
}

function closed({ data }: Bun.Socket<End>): void {
  const { other } = data
  data.other = null
  if (other === null) return
  if (other.data.waiting.length > 0) other.data.ends = true
  else other.end()
}

const shared = { drain: drained, close: closed, error: () => undefined }

async function connect(client: Bun.Socket<End>, first: readonly Buffer[]): Promise<void> {
  const server = await Bun.connect<End>({
    hostname: '127.0.0.1',
    port: serverPort,
    data: newEnd(client),
    socket: { ...shared, data: toOther },
  })
  server.setNoDelay(true)
  client.data.other = server
  for (const chunk of first) write(server, chunk)
}

function toOther({ data }: Bun.Socket<End>, chunk: Buffer): void {
  if (data.other !== null) write(data.other, chunk)
}

/** What clients sent before their connection to the server was open. */
const early = new WeakMap<Bun.Socket<End>, Buffer[]>()

Bun.listen<End>({
  hostname: '127.0.0.1',
  port,
  socket: {
    ...shared,
    open(client) {
      client.data = newEnd(null)
      client.setNoDelay(true)
      const first: Buffer[] = []
      early.set(client, first)
      connect(client, first).then(
        () => early.delete(client),
        () => client.end(),
      )
    },
    data(client, chunk) {
      if (client.data.other !== null) write(client.data.other, chunk)
      else early.get(client)?.push(Buffer.from(chunk))
    },
  },
})
