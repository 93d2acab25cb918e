// Compares the OpenAPI document with what is served: every row of the endpoint table, every reply, every refusal.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { errorTable } from '../../src/errors.ts'
import { endpoints } from '../../src/http/endpoints.ts'
import { healthPaths } from '../../src/http/health.ts'
import { describeV1 } from '../../src/http/openapi/v1.ts'
import { eventually } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import {
  Described,
  type Json,
  type JsonObject,
  type Operation,
  type Reply,
  replyOf,
} from '../support/openapi.ts'
import { json, startUpstream, type Upstream } from '../support/upstream.ts'

const info = { title: 'Tollgate', version: '0' }
const own: JsonObject = JSON.parse(JSON.stringify({ openapi: '3.1.0', info, ...describeV1() }))
const described = new Described(own)

let gateway: Gateway
/** The document as it is served, including the control API. */
let document: JsonObject
let ranker: Upstream

beforeAll(async () => {
  ranker = await startUpstream()
  const results = [1, 0].map((index) => ({ index, relevance_score: 0.5 }))
  ranker.on('*', [json(200, { results, id: 'r' })])
  gateway = await startGateway({
    config: {
      channels: [
        { id: 'sandbox', vendor: 'sandbox', models: ['sandbox/*'] },
        {
          id: 'ranker',
          vendor: 'cohere',
          baseUrl: ranker.url,
          key: 'sk-ranker-0123456789',
          models: ['rerank-v3.5'],
        },
      ],
      models: { 'rerank-v3.5': { kind: 'rerank', prices: { search: '2000' } } },
    },
  })
  document = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as JsonObject
})
afterAll(async () => {
  await gateway.stop()
  await ranker.close()
})

interface Said {
  readonly description?: string
  readonly $ref?: string
}

/** An operation as the document describes it to people. */
interface Written {
  readonly operationId: string
  readonly summary?: string
  readonly parameters?: readonly (Said & { readonly name: string; readonly in: string })[]
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly schema: { readonly properties?: Record<string, Said> } }>
    >
  }
}

interface Ask {
  /** Parameters of the path; others come from the document's example. */
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** Replaces the document's example; an object is sent as JSON. */
  readonly body?: JsonObject | FormData
}

function addressOf({ path, parameters }: Operation, { path: named = {}, query }: Ask): string {
  const place = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const example = parameters.find((parameter) => parameter.name === name)?.example
    return encodeURIComponent(named[name] ?? String(example))
  })
  const asked = new URLSearchParams(query)
  for (const { name, in: where, required, example } of parameters) {
    if (where === 'query' && required && !asked.has(name)) asked.set(name, String(example))
  }
  return `${gateway.url}${place}${asked.size === 0 ? '' : `?${asked}`}`
}

function exampleOf({ body }: Operation): JsonObject {
  return (body?.get('application/json')?.example ?? {}) as JsonObject
}

async function ask(operation: Operation, asked: Ask = {}): Promise<Reply> {
  const { body = operation.body === null ? undefined : exampleOf(operation) } = asked
  const isForm = body instanceof FormData
  const response = await fetch(addressOf(operation, asked), {
    method: operation.method.toUpperCase(),
    headers: {
      authorization: `Bearer ${gateway.key}`,
      ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
      ...asked.headers,
    },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  })
  return await replyOf(response)
}

/** A reply that matches its description, with the expected status and type. */
async function reply(id: string, asked: Ask = {}, status = 200, type = 'application/json') {
  const operation = described.operation(id)
  const given = await ask(operation, asked)
  expect([id, given.status, given.type, status === given.status ? '' : given.body]).toEqual([
    id,
    status,
    type,
    '',
  ])
  expect([id, described.undescribed(operation, given)]).toEqual([id, null])
  seen.add(id)
  return given
}

/** Operations of which a reply was seen. */
const seen = new Set<string>()
const events = 'text/event-stream'
const bodyOf = (id: string, more: JsonObject): JsonObject => ({
  ...exampleOf(described.operation(id)),
  ...more,
})
const parsed = ({ body }: Reply) => JSON.parse(body) as JsonObject
const idOf = (given: Reply) => String(parsed(given)['id'])

test('is OpenAPI 3.1, by its own schema', async () => {
  const validator = new Validator({ strict: false })
  const { valid, errors } = await validator.validate(structuredClone(document))
  expect([valid, errors, validator.version]).toEqual([true, undefined, '3.1'])
})

test('names each operation and schema once, and uses each schema', () => {
  const ids = new Described(document).operations.map(({ id }) => id)
  expect(ids).toEqual([...new Set(ids)])
  const text = JSON.stringify(document)
  const { paths, components } = document as { paths: JsonObject; components: JsonObject }
  expect(paths).toMatchObject(own['paths'] as object)
  expect(components).toMatchObject(own['components'] as object)
  for (const [kind, members] of Object.entries(components)) {
    if (kind === 'securitySchemes') continue
    const unused = Object.keys(members as JsonObject).filter(
      (name) => !text.includes(`"#/components/${kind}/${name}"`),
    )
    expect([kind, unused]).toEqual([kind, []])
  }
})

test('describes each operation, each parameter, and each field of a body of the control API', () => {
  const paths = document['paths'] as unknown as Record<string, Record<string, Written>>
  const unsaid = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).flatMap(
      ({ operationId, summary = '', parameters = [], requestBody }) => {
        const asked = parameters.filter((each) => each.in === 'query')
        const fields = path.startsWith('/api/')
          ? Object.entries(requestBody?.content['application/json']?.schema.properties ?? {})
          : []
        return [
          ...(/^[A-Z][a-z]+[, ].+[^.]$/.test(summary) ? [] : [`${operationId}: ${summary}`]),
          ...asked.flatMap((each) => (each.description ? [] : [`${operationId}: ${each.name}`])),
          ...fields.flatMap(([name, { description, $ref }]) =>
            description || $ref ? [] : [`${operationId}: ${name}`],
          ),
        ]
      },
    ),
  )
  expect(unsaid).toEqual([])
})

test('has patterns that are read as they are meant', () => {
  const found = JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)
  const patterns = [...found].map(([, text = '']) => String(JSON.parse(text)))
  expect(patterns.length).toBeGreaterThan(10)
  for (const pattern of patterns) {
    expect(new RegExp(pattern, 'u')).toBeInstanceOf(RegExp)
    // With the flags of a literal after its end, nothing would match.
    expect(pattern).not.toMatch(/\$\/[a-z]*$/)
  }
})

test('is a page for people that needs nothing else', async () => {
  const page = await fetch(`${gateway.url}/docs`)
  const [type, policy] = ['content-type', 'content-security-policy'].map((name) =>
    page.headers.get(name),
  )
  expect([page.status, type]).toEqual([200, 'text/html; charset=utf-8'])
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; base-uri 'none'/)
  const html = await page.text()
  expect(html).not.toMatch(/<script|<img|<link|\bstyle="|\bsrc=|\bon\w+="|undefined|\[object/)
  const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
  const links = [...html.matchAll(/ href="([^"]+)"/g)].map(([, link = '']) => link)
  const broken = links.filter((link) => !ids.has(link.replace('#', '')))
  expect([...new Set(broken)]).toEqual(['/openapi.json'])
  for (const { id } of new Described(document).operations) expect(ids).toContain(`operation-${id}`)
})

test('is a short list for language models, whose links lead to the page', async () => {
  const reply = await fetch(`${gateway.url}/llms.txt`)
  expect([reply.status, reply.headers.get('content-type')]).toEqual([
    200,
    'text/plain; charset=utf-8',
  ])
  const text = await reply.text()
  expect(text).toStartWith('# Tollgate\n\n> One HTTP API')
  expect(text).not.toContain('undefined')
  const html = await (await fetch(`${gateway.url}/docs`)).text()
  const listed = [...text.matchAll(/^- \[([A-Z]+) (\S+)\]\(\/docs#(\S+)\): \S/gm)]
  for (const [, , , id] of listed) expect(html).toContain(` id="${id}"`)
  const { operations } = new Described(document)
  expect(listed.map(([, method, path]) => `${method?.toLowerCase()} ${path}`).toSorted()).toEqual(
    operations.map(({ method, path }) => `${method.toLowerCase()} ${path}`).toSorted(),
  )
})

test.each(['/openapi.json', '/docs', '/llms.txt'])(
  '%s is sent again only when it has changed',
  async (path) => {
    const first = await fetch(gateway.url + path)
    const headers = { 'if-none-match': String(first.headers.get('etag')) }
    const again = await fetch(gateway.url + path, { headers })
    expect([first.status, again.status, await again.text()]).toEqual([200, 304, ''])
    const posted = await fetch(gateway.url + path, { method: 'POST' })
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
    expect(await posted.json()).toMatchObject({ status: 405, code: 'method_not_allowed' })
  },
)

test.each(healthPaths)('%s says what it takes instead', async (path) => {
  const reply = await fetch(gateway.url + path, { method: 'PUT' })
  expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
})

test('describes each row of the endpoint table and nothing else', async () => {
  const wanted = new Set(described.operations.map(({ method, path }) => `${method} ${path}`))
  const refused: string[] = []
  for (const { path, method, prefixes, access } of endpoints) {
    const patterns = prefixes.map((prefix) => patternOf(prefix + path))
    const found = [...wanted].filter((name) => {
      const [verb = '', place = ''] = name.split(' ')
      return verb === method.toLowerCase() && patterns.some((pattern) => pattern.test(place))
    })
    for (const name of found) rows.add(name)
    if (found.length > 0) continue
    const { status } = await fetch(gateway.url + prefixes[0] + path, { method })
    refused.push(`${status} ${access}`)
  }
  // Known but not offered, or only for clients that ask for a socket.
  expect([...new Set(refused)].sort()).toEqual(['404 public', '405 public'])
  const beside = [...wanted].filter((name) => !rows.has(name))
  expect(beside.filter((name) => !healthPaths.includes(name.replace('get ', '')))).toEqual([])
})

const rows = new Set<string>()

/** `/a/:id` and `/a/*` as what they match. */
function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/:\w+/g, '[^/]+').replace('*', '[^/]+')}$`)
}

test('names every code of a refusal beside its status', () => {
  const { responses } = own['components'] as unknown as { responses: Record<string, JsonObject> }
  const unnamed = Object.entries(errorTable).filter(
    ([code, { status }]) =>
      !described.operations.some(({ responses: own }) => own.has(String(status))) ||
      !Object.values(responses).some(({ description }) => String(description).includes(code)),
  )
  // A path that supports only another method: no operation answers it.
  expect(unnamed.map(([code]) => code)).toEqual(['method_not_allowed'])
})

const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]

test('chats and completions are as described', async () => {
  const more: JsonObject[] = [{}, { tools, tool_choice: 'required' }, { logprobs: true, n: 2 }]
  for (const one of more) {
    for (const stream of [false, true]) {
      const body = bodyOf('createChatCompletion', { ...one, ...(stream && { stream }) })
      const type = stream ? events : undefined
      await reply('createChatCompletion', { body }, 200, type)
    }
  }
  const usage = { stream: true, stream_options: { include_usage: true } }
  await reply('createCompletion')
  for (const id of ['createChatCompletion', 'createCompletion'])
    await reply(id, { body: bodyOf(id, usage) }, 200, events)
})

test('responses are as described, made, kept, ended and gone', async () => {
  const made = await reply('createResponse')
  await reply('createResponse', { body: bodyOf('createResponse', { stream: true }) }, 200, events)
  const path = { id: idOf(made) }
  await reply('readResponse', { path })
  await reply('readResponse', { path, query: { stream: 'true' } }, 200, events)
  await reply('listResponseInput', { path })
  await reply('deleteResponse', { path })
  await reply('readResponse', { path }, 404)
  const background = bodyOf('createResponse', { background: true, model: 'sandbox/chat+gap=50' })
  const queued = await reply('createResponse', { body: background })
  await reply('cancelResponse', { path: { id: idOf(queued) } })
  await reply('countResponseTokens')
  await reply('compactResponse')
})

test('chats in the formats of Anthropic and Google are as described', async () => {
  for (const id of ['createMessage', 'countMessageTokens']) await reply(id)
  await reply('createMessage', { body: bodyOf('createMessage', { stream: true }) }, 200, events)
  await reply('streamGenerateContent', { query: { alt: 'sse' } }, 200, events)
  for (const id of [
    'generateContent',
    'streamGenerateContent',
    'countContentTokens',
    'embedContent',
    'batchEmbedContents',
    'listGeminiModels',
    'readGeminiModel',
  ])
    await reply(id)
})

test('lists, models and the account are as described', async () => {
  for (const id of [
    'createEmbedding',
    'rankDocuments',
    'rankDocumentsOfCohere',
    'scoreTexts',
    'createModeration',
    'listServedModels',
    'readServedModel',
    'readKeyBalance',
    'listKeyUsage',
    'readLiveness',
    'readReadiness',
  ])
    await reply(id)
  const base64 = bodyOf('createEmbedding', { encoding_format: 'base64' })
  await reply('createEmbedding', { body: base64 })
  for (const headers of [{ 'anthropic-version': '2023-06-01' }, { 'x-goog-api-client': 'a/1' }]) {
    await reply('listServedModels', { headers })
    await reply('readServedModel', { headers })
  }
  await reply('readMetrics', {}, 200, 'text/plain')
  const [row] = await eventually(async () => {
    const { data } = parsed(await reply('listKeyUsage', { query: { status: '200' } }))
    return (data as JsonObject[]).length > 0 ? (data as JsonObject[]) : undefined
  })
  await reply('readKeyUsage', { path: { id: String(row?.['requestId']) } })
})

function formOf(fields: Readonly<Record<string, string | Blob>>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  return form
}

test('images are as described', async () => {
  const made = await reply('createImage', {
    body: bodyOf('createImage', { response_format: 'b64_json' }),
  })
  const streamed = bodyOf('createImage', { stream: true, partial_images: 1 })
  await reply('createImage', { body: streamed }, 200, events)
  const [first] = parsed(made)['data'] as JsonObject[]
  const image = new Blob([Uint8Array.fromBase64(String(first?.['b64_json']))], {
    type: 'image/png',
  })
  const form = formOf({ model: 'sandbox/image', prompt: 'a blue cat', image })
  await reply('editImage')
  await reply('editImage', { body: form })
  await reply('varyImage', { body: formOf({ model: 'sandbox/image', image }) })
  const hosted = await reply('createImage')
  const [shown] = parsed(hosted)['data'] as JsonObject[]
  const url = new URL(String(shown?.['url']))
  const asked: Ask = {
    path: { id: url.pathname.replace('/files/', '') },
    query: Object.fromEntries(url.searchParams),
  }
  await reply('readFile', asked, 200, 'image/png')
  await reply('readFile', { ...asked, headers: { range: 'bytes=0-9' } }, 206, 'image/png')
  await reply('readFile', { ...asked, query: { expires: '1', signature: 'x' } }, 403)
})

test('sound is as described', async () => {
  await reply('createSpeech', {}, 200, 'audio/mpeg')
  const body = bodyOf('createSpeech', { stream_format: 'sse' })
  await reply('createSpeech', { body }, 200, events)
  const speech = await fetch(`${gateway.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(bodyOf('createSpeech', { response_format: 'wav' })),
  })
  const file = new File([await speech.arrayBuffer()], 'hello.wav', { type: 'audio/wav' })
  const fields = { model: 'sandbox/transcription', file }
  const types = {
    json: 'application/json',
    verbose_json: 'application/json',
    text: 'text/plain',
    srt: 'text/plain',
    vtt: 'text/plain',
  }
  for (const id of ['createTranscription', 'createTranslation']) {
    for (const [format, type] of Object.entries(types))
      await reply(id, { body: formOf({ ...fields, response_format: format }) }, 200, type)
    await reply(id, { body: formOf({ ...fields, stream: 'true' }) }, 200, events)
  }
})

test('videos are as described', async () => {
  const path = { id: idOf(await reply('createVideo')) }
  await reply('createVideo', { body: formOf({ model: 'sandbox/video', prompt: 'a blue cat' }) })
  await reply('readVideoContent', { path }, 400)
  await eventually(async () => {
    const { status } = parsed(await reply('readVideo', { path }))
    return status === 'completed' || undefined
  })
  await reply('readVideoContent', { path }, 200, 'video/mp4')
  await reply('readVideoContent', { path, query: { variant: 'thumbnail' } }, 200, 'image/png')
  await reply('remixVideo', { path })
  await reply('listVideos')
  await reply('deleteVideo', { path })
})

test('a session is refused as described where it is no socket', async () => {
  await reply('openRealtimeSession', {}, 426)
})

test('every operation was answered', () => {
  const unseen = described.operations.filter(({ id }) => !seen.has(id))
  expect(unseen.map(({ id }) => id)).toEqual([])
})

test('nobody is refused as described, everywhere but where no key is asked for', async () => {
  for (const operation of described.operations) {
    const path = { id: 'x', model: 'x' }
    const given = await ask(operation, { path, headers: { authorization: '' } })
    expect([operation.id, described.undescribed(operation, given)]).toEqual([operation.id, null])
    const refused = operation.id === 'openRealtimeSession' ? 426 : 401
    if (!operation.open) expect([operation.id, given.status]).toEqual([operation.id, refused])
  }
})

const wrong: readonly Json[] = ['', 'text', -1, 1.5, 1e9, true, [], [1], [null], {}, { type: 1 }]

test('a field that the document does not allow is refused by its name', async () => {
  const faults: string[] = []
  for (const operation of described.operations) {
    const content = operation.body?.get('application/json')
    if (content === undefined) continue
    const example = exampleOf(operation)
    for (const [name, body] of variantsOf(operation)) {
      const fault = described.fault(content.at, body)
      const given = await ask(operation, { path: { id: 'x' }, body })
      const told = `${operation.id} ${name}: ${JSON.stringify(body[name])} ${given.status}`
      const odd = described.undescribed(operation, given)
      if (odd !== null) faults.push(`${told}: ${odd}`)
      if (judgedElsewhere.test(told)) continue
      const refused = given.status === 400 && given.body.includes(name)
      if (fault !== null && !refused) faults.push(`${told}: taken, though ${fault}`)
      if (fault === null && given.status === 400) faults.push(`${told}: ${given.body}`)
    }
    expect([operation.id, described.fault(content.at, example)]).toEqual([operation.id, null])
  }
  expect(faults).toEqual([])
})

/** Values that stored data or the vendor decides; and one text in place of a list of one. */
const judgedElsewhere =
  /^(remixVideo|createResponse input|\w+ previous_response_id|\w+ (outputD|d)imension\w*: 1000000000|(create|edit)Image size|batchEmbedContents requests: undefined)/

/** The example, each time without one field, or with one of another type or out of its bounds. */
function* variantsOf(operation: Operation): Generator<readonly [string, JsonObject]> {
  const example = exampleOf(operation)
  const content = operation.body?.get('application/json')
  const schema = described.resolved(content?.schema)
  for (const name of Object.keys((schema['properties'] ?? {}) as JsonObject)) {
    const { [name]: _, ...rest } = example
    yield [name, rest]
    for (const value of wrong) yield [name, { ...example, [name]: value }]
  }
}
