// The vendors of the media tables: one server, where each row has a separate folder and is answered as its vendor
// would.

import type { JsonObject } from '../../../src/wire/ir.ts'
import { filmOf, pictureOf } from './made.ts'

/** A text in the messages of vendors that refuse. */
export const vendorsOwn = 'The vendor says:'

/** A request that a vendor refuses in its own way: in the tables it counts as an error of the gateway. */
export class Refused extends Error {
  readonly status: number

  constructor(message: string, status = 400) {
    super(`${vendorsOwn} ${message}`)
    this.status = status
  }
}

/** One request to one row's vendor. */
export interface Asked {
  readonly method: string
  /** The path below the row's folder. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Headers
  /** The address of the row's folder. */
  readonly place: string
  json(): Promise<JsonObject>
  form(): Promise<FormData>
  bytes(): Promise<Uint8Array>
}

export type Service = (asked: Asked) => Promise<Response>

export interface MediaVendors extends AsyncDisposable {
  /** The address of a row's vendor. */
  place(row: string): string
  /** The number of requests that a row's vendor got so far. */
  count(row: string): number
  /** Of them, those that request new work; queries of a running job may come at any time. */
  asked(row: string): number
}

/** `services`: by the row's name, which is one segment of a path. */
export function startMediaVendors(services: Readonly<Record<string, Service>>): MediaVendors {
  const counts = new Map<string, number>()
  const asks = new Map<string, number>()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const url = new URL(request.url)
      const [, row = '', ...rest] = url.pathname.split('/')
      counts.set(row, (counts.get(row) ?? 0) + 1)
      if (request.method !== 'GET') asks.set(row, (asks.get(row) ?? 0) + 1)
      const service = services[row]
      if (service === undefined) return new Response('', { status: 404 })
      if (rest[0] === 'results') return result(rest[1] ?? '')
      if (rest[0] === 'films') return film(rest[1] ?? '')
      try {
        return await service({
          method: request.method,
          path: `/${rest.join('/')}`,
          query: url.searchParams,
          headers: request.headers,
          place: `${url.origin}/${row}`,
          json: async () => (await request.json()) as JsonObject,
          form: async () => (await request.formData()) as FormData,
          bytes: () => request.bytes(),
        })
      } catch (error) {
        if (!(error instanceof Refused)) throw error
        const { message, status } = error
        return Response.json({ error: { message, code: null } }, { status })
      }
    },
  })
  return {
    place: (row) => `http://127.0.0.1:${server.port}/${row}`,
    count: (row) => counts.get(row) ?? 0,
    asked: (row) => asks.get(row) ?? 0,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

/** Pictures that vendors return by address: `results/1024x1024`. */
function result(name: string): Response {
  const [width = 0, height = 0] = name.split('x').map(Number)
  const headers = { 'content-type': 'image/png' }
  return new Response(Uint8Array.from(pictureOf(width, height)), { headers })
}

/** Films that vendors return by address: `films/720x1280x4`. */
export function film(name: string): Response {
  const [width = '', height = '', seconds = ''] = name.split('x')
  const bytes = filmOf(`${width}x${height}`, Number(seconds))
  const headers = { 'content-type': 'video/mp4' }
  return new Response(Uint8Array.from(bytes), { headers })
}

/** The row's key, in the form that this vendor requires. */
export const vendorKey = 'key-of-a-vendor-0123456789'

/** Throws if the key is not in its header. */
export function signed({ headers }: Asked, name: string, scheme = ''): void {
  if (headers.get(name) !== scheme + vendorKey) throw new Refused(`no key in ${name}`, 401)
}

/** Throws if there are other fields than these. */
export function only(value: Iterable<string>, ...known: readonly string[]): void {
  for (const name of value)
    if (!known.includes(name)) throw new Refused(`Unknown parameter: '${name}'.`)
}

export function oneOf<T extends string>(
  value: unknown,
  name: string,
  known: readonly T[],
  usual: T,
): T {
  const said = value ?? usual
  const found = known.find((each) => each === said)
  if (found === undefined) throw new Refused(`${name} must be one of ${known.join(', ')}`)
  return found
}

/** A form's texts by name, its lists by the name with `[]`; files separately. */
export function textsOf(form: FormData): Map<string, string> {
  const found = new Map<string, string>()
  for (const [name, value] of form) if (typeof value === 'string') found.set(name, value)
  return found
}

export async function fileIn(form: FormData, name: string): Promise<Uint8Array> {
  const file = form.get(name)
  if (!(file instanceof File)) throw new Refused(`${name} is no file`)
  return file.bytes()
}

/** Events in OpenAI's form. */
export function events(all: readonly JsonObject[], named = false): Response {
  const frames = all.map((each) => {
    const name = named ? `event: ${String(each['type'])}\n` : ''
    return `${name}data: ${JSON.stringify(each)}\n\n`
  })
  return new Response(frames.join(''), { headers: { 'content-type': 'text/event-stream' } })
}
