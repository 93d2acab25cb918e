// Makes valid, nearly valid and hostile requests for the operations of an OpenAPI document, and checks the replies.

import fc from 'fast-check'
import {
  type Content,
  type Described,
  type Json,
  type JsonObject,
  type Operation,
  type Parameter,
  replyOf,
} from './openapi.ts'
import { allowedBy, nearly, oddText, oddValue, someOf } from './schema-values.ts'

/** Printed with the test: `FUZZ_SEED` repeats the same requests. */
export const seed = Number(Bun.env['FUZZ_SEED'] ?? Date.now() % 0x7fff_ffff)
/** Requests for each operation and caller; more requests find more. */
const numRuns = Number(Bun.env['FUZZ_RUNS'] ?? 12)
/** No valid request takes longer. */
const longestMs = 10_000

type Body = string | Uint8Array<ArrayBuffer> | FormData

/** A request as it is sent, without its sender. */
export interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Body | null
}

export interface Scene {
  readonly described: Described
  /** Existing names, which lead somewhere. */
  readonly ids: readonly string[]
}

const none: Readonly<Record<string, string>> = {}

function textOf(value: Json): string {
  return (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed()
}

function valueOf({ described, ids }: Scene, { schema, example }: Parameter): fc.Arbitrary<string> {
  const allowed = allowedBy(described, schema).map(textOf)
  const known = example === undefined ? ids : [textOf(example)]
  const isName = schema['type'] === 'string' && schema['pattern'] === undefined
  return known.length === 0 || !isName ? allowed : fc.oneof(allowed, fc.constantFrom(...known))
}

const short = (value: string) => value.length < 4_000

/** `.` and `..` would be other paths. */
function segmentOf(scene: Scene, parameter: Parameter): fc.Arbitrary<string> {
  const known = scene.ids.length === 0 ? [] : [fc.constantFrom(...scene.ids)]
  const any = fc.oneof(...known, valueOf(scene, parameter), oddText.map(textOf))
  return any.filter((part) => !/^\.{0,2}$/.test(part) && short(part)).map(encodeURIComponent)
}

function addressOf(scene: Scene, { path, parameters }: Operation): fc.Arbitrary<string> {
  const at = (where: string) => parameters.filter((one) => one.in === where)
  const segments = fc.record(
    Object.fromEntries(at('path').map((one) => [one.name, segmentOf(scene, one)] as const)),
  )
  const allowed = Object.fromEntries(
    at('query').map((one) => [one.name, valueOf(scene, one)] as const),
  )
  const required = at('query').flatMap((one) => (one.required ? [one.name] : []))
  const names = [...Object.keys(allowed), 'unknown']
  const odd = fc.tuple(fc.constantFrom(...names), oddText.map(textOf).filter(short))
  return fc.tuple(segments, someOf(allowed, required), seldom(odd)).map(([parts, query, other]) => {
    const place = path.replace(/\{(\w+)\}/g, (_, name: string) => parts[name] ?? '')
    const search = new URLSearchParams(query as Readonly<Record<string, string>>)
    if (other !== null) search.append(...other)
    return search.size === 0 ? place : `${place}?${search}`
  })
}

function seldom<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.option(arbitrary, { freq: 3 }).map((value) => value)
}

const oddHeaders = [
  'accept',
  'accept-language',
  'anthropic-beta',
  'cookie',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'origin',
  'range',
  'sec-fetch-site',
  'traceparent',
  'x-forwarded-for',
  'x-goog-api-client',
  'x-http-method-override',
] as const

/** One or two odd headers, or some that the document allows. */
function headersOf(
  scene: Scene,
  { parameters }: Operation,
): fc.Arbitrary<Readonly<Record<string, string>>> {
  const own = parameters.filter(({ in: where }) => where === 'header')
  const names = [...oddHeaders, ...own.map(({ name }) => name)]
  const odd = fc.dictionary(fc.constantFrom(...names), oddText.map(printable), { maxKeys: 2 })
  const allowed = own.map((one) => [one.name, valueOf(scene, one).map(printable)] as const)
  return fc.oneof(
    { weight: 4, arbitrary: fc.constant(none) },
    { weight: 1, arbitrary: odd },
    { weight: 2, arbitrary: fc.record(Object.fromEntries(allowed), { requiredKeys: [] }) },
  ) as fc.Arbitrary<Readonly<Record<string, string>>>
}

/** Characters that a client can put into a header. */
function printable(value: string): string {
  return value
    .replace(/[^\x20-\x7e\xa1-\xff]/g, '')
    .trim()
    .slice(0, 2_000)
}

const oddTypes = [
  'application/json; charset=utf-16',
  'text/plain',
  'multipart/form-data',
  'multipart/form-data; boundary=b',
  'application/x-www-form-urlencoded',
  'application/octet-stream',
  'a/b;',
  '*/*',
] as const

/** Texts that are not JSON, or JSON that causes trouble for readers. */
const brokenTexts = fc.constantFrom<Body>(
  '',
  '{',
  '{"a":1,}',
  "{'a':1}",
  '\ufeff{}',
  '{"a":1}{"a":1}',
  '{"a":NaN}',
  '{"a":1e999}',
  '{"model":"a","model":"b"}',
  '{"__proto__":{"a":1}}',
  '['.repeat(20_000),
  `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
  '{"a":"\\ud800"}',
  '{"a":"\\u0000"}',
  new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]),
  new Uint8Array(1_000),
  new Uint8Array([0xc3]),
)

/** Deeper than any recursive reader of JSON can go. */
const deepest = 100_000
const mark = 'deep'

function deepIn(known: JsonObject, name: string): Body {
  const text = JSON.stringify({ ...known, [name]: mark })
  return text.replace(`"${mark}"`, '['.repeat(deepest) + ']'.repeat(deepest))
}

/** With fields of the example, so that a request gets further. */
function jsonOf({ described }: Scene, { schema, example = {} }: Content): fc.Arbitrary<Body> {
  const known = example as JsonObject
  const useful = fc
    .tuple(allowedBy(described, schema), fc.subarray(Object.keys(known)))
    .map(([value, kept]) => {
      if (typeof value !== 'object' || value === null) return value
      return { ...value, ...Object.fromEntries(kept.map((name) => [name, known[name]])) } as Json
    })
  const value = fc.oneof(
    { weight: 4, arbitrary: useful },
    { weight: 3, arbitrary: nearly(useful) },
    { weight: 5, arbitrary: nearly(fc.constant<Json>(known)) },
    { weight: 1, arbitrary: oddValue },
  )
  const texts = value.map((one) => JSON.stringify(one))
  const names = Object.keys(described.resolved(schema)['properties'] ?? known)
  return fc.oneof(
    { weight: 20, arbitrary: texts },
    { weight: 1, arbitrary: fc.constantFrom('a', ...names).map((name) => deepIn(known, name)) },
  )
}

/** A file of each kind that forms accept, and one that is of no kind. */
const files = fc.constantFrom(
  Uint8Array.fromBase64(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  ),
  new TextEncoder().encode(`RIFF${'\0'.repeat(40)}`),
  new TextEncoder().encode('ID3 no sound'),
  new Uint8Array(0),
)

function formOf({ described }: Scene, { schema }: Content): fc.Arbitrary<Body> {
  const members = allowedBy(described, schema) as fc.Arbitrary<JsonObject>
  const names = Object.keys(described.resolved(schema)['properties'] ?? {})
  return fc
    .tuple(
      members,
      seldom(fc.tuple(fc.constantFrom(...names), oddText)),
      files,
      fc.constantFrom(...formModels),
    )
    .map(([value, odd, bytes, model]) => {
      const form = new FormData()
      for (const [name, member] of Object.entries({ ...value, model })) {
        if (['file', 'image', 'mask', 'input_reference'].includes(name))
          form.append(name, new File([bytes], `a-${name}`))
        else for (const one of [member].flat()) form.append(name, textOf(one ?? null))
      }
      if (odd !== null) form.append(odd[0], odd[1].toWellFormed())
      return form
    })
}

interface Payload {
  /** null: as the body itself declares. */
  readonly type: string | null
  readonly body: Body
}

function bodyOf(scene: Scene, { body }: Operation): fc.Arbitrary<Payload | null> {
  const kinds = [...(body ?? [])].map(([type, content]) => {
    const isForm = type === 'multipart/form-data'
    const made = isForm ? formOf(scene, content) : jsonOf(scene, content)
    return made.map((one): Payload => ({ type: isForm ? null : type, body: one }))
  })
  if (kinds.length === 0) return fc.constant(null)
  const right = fc.oneof(...kinds)
  const odd = fc.record({
    type: fc.constantFrom('application/json', ...oddTypes),
    body: brokenTexts,
  })
  return fc.oneof({ weight: 9, arbitrary: right }, { weight: 1, arbitrary: odd })
}

const formModels = ['sandbox/image', 'sandbox/transcription', 'sandbox/video', '', 'none'] as const

function requestOf(scene: Scene, operation: Operation): fc.Arbitrary<Sent> {
  return fc
    .tuple(addressOf(scene, operation), headersOf(scene, operation), bodyOf(scene, operation))
    .map(([path, headers, payload]) => {
      const type = payload?.type ?? null
      const said = type === null ? none : { 'content-type': type }
      const method = operation.method.toUpperCase()
      return { method, path, headers: { ...headers, ...said }, body: payload?.body ?? null }
    })
}

/** What is wrong with a reply; null: nothing. */
async function wrongWith(
  { described }: Scene,
  operation: Operation,
  response: Response,
): Promise<string | null> {
  const isLive =
    response.headers.get('content-type')?.startsWith('text/event-stream') === true &&
    operation.path.startsWith('/api/')
  // It continues as long as somebody listens.
  if (isLive) await response.body?.cancel()
  const reply = await replyOf(isLive ? new Response(null, response) : response)
  const told = described.undescribed(operation, reply)
  if (told !== null) return `${told}: ${reply.body.slice(0, 300)}`
  if (reply.type === 'text/html') return 'a page'
  const isFailure = reply.status >= 500 && operation.id !== 'readReadiness'
  if (isFailure && !(reply.status === 503 && response.headers.has('retry-after')))
    return `${reply.status}: ${reply.body.slice(0, 300)}`
  return null
}

function removes({ method, path }: Operation): boolean {
  return method === 'delete' || path.endsWith('/sign-out')
}

/** An entry that is removed no longer exists for the other calls. */
function lastRemoved(operations: readonly Operation[]): readonly Operation[] {
  return operations.toSorted((a, b) => Number(removes(a)) - Number(removes(b)))
}

/** Calls each operation many times; returns replies that differ from the document, with their requests. */
export async function faultsOf(
  scene: Scene,
  operations: readonly Operation[],
  ask: (sent: Sent, signal: AbortSignal) => Promise<Response>,
): Promise<readonly string[]> {
  const faults: string[] = []
  for (const operation of lastRemoved(operations)) {
    const property = fc.asyncProperty(requestOf(scene, operation), async (sent) => {
      const response = await ask(sent, AbortSignal.timeout(longestMs))
      const wrong = await wrongWith(scene, operation, response)
      if (wrong !== null) throw new Error(wrong)
    })
    const found = await fc.check(property, { numRuns, seed, endOnFailure: true })
    if (!found.failed) continue
    const sent = JSON.stringify(found.counterexample).slice(0, 1_500)
    faults.push(`${operation.id}: ${found.errorInstance}\n  ${sent}`)
  }
  return faults
}
