// A server that accepts inserts as ClickHouse's HTTP interface does, and keeps them in order.

import { gunzipSync } from 'node:zlib'

export type Line = Readonly<Record<string, unknown>> & { readonly request_id: string }

export interface Insert {
  /** Its token. */
  readonly name: string
  readonly rows: readonly Line[]
}

export interface ClickHouse extends AsyncDisposable {
  readonly url: string
  /** In the form of the configuration. */
  readonly settings: {
    readonly url: string
    readonly database: string
    readonly table: string
    readonly user: string
    readonly password: string
  }
  readonly inserts: Insert[]
  /** Inserts that came, including those that were refused. */
  readonly asked: number
  /** The answer to every insert; null: normal. */
  refusal: { readonly status: number; readonly text: string } | null
  /** Larger bodies are refused with 413. */
  mostBytes: number
  /** This many inserts are accepted and not answered. */
  mute: number
}

const user = 'tollgate'
const password = 'a-password-that-stays-here'

class Stub implements ClickHouse {
  readonly inserts: Insert[] = []
  asked = 0
  refusal: ClickHouse['refusal'] = null
  mostBytes = Number.POSITIVE_INFINITY
  mute = 0
  private readonly server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: (request) => this.answer(request),
  })

  get url(): string {
    return `http://127.0.0.1:${this.server.port}`
  }

  get settings() {
    return { url: this.url, database: 'gateway', table: 'usage', user, password }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop(true)
  }

  private async answer(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url)
    this.asked += 1
    // Before the body was read, as proxies do.
    if (this.refusal !== null)
      return new Response(this.refusal.text, { status: this.refusal.status })
    const isKnown =
      request.headers.get('x-clickhouse-user') === user &&
      request.headers.get('x-clickhouse-key') === password
    if (!isKnown) return new Response('Code: 516. DB::Exception: failed', { status: 403 })
    if (Number(request.headers.get('content-length')) > this.mostBytes)
      return new Response('too large', { status: 413 })
    const query = searchParams.get('query')
    if (query !== 'INSERT INTO `gateway`.`usage` FORMAT JSONEachRow')
      return new Response(`Code: 62. DB::Exception: ${query}`, { status: 400 })
    const rows = linesIn(await request.bytes())
    this.inserts.push({ name: searchParams.get('insert_deduplication_token') ?? '', rows })
    if (this.mute === 0) return new Response(null)
    this.mute -= 1
    return new Promise(() => undefined)
  }
}

export function startClickHouse(): ClickHouse {
  return new Stub()
}

export function linesIn(packed: Uint8Array): Line[] {
  const text = gunzipSync(packed).toString('utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}
