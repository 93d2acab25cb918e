// Compares embeddings and reranking in every format with golden files: requests, vendors' replies and clients' replies.

import { afterAll, describe, expect, test } from 'bun:test'
import { GatewayError } from '../src/errors.ts'
import type { Dialect } from '../src/wire/dialect.ts'
import { dialects } from '../src/wire/dialects.ts'
import type { DialectId } from '../src/wire/formats.ts'
import type { JsonValue } from '../src/wire/ir.ts'
import { isFault } from '../src/wire/list/fields.ts'
import type { ListReply, ListRequest } from '../src/wire/list/list.ts'
import { GoldenFiles, goldenPaths, readGolden } from './golden/support/files.ts'
import { listOperations } from './golden/support/lists.ts'
import { show } from './golden/support/show.ts'
import { clientList, clientOf, vendorList } from './support/dialects.ts'

const files = new GoldenFiles(['asked.json', 'sent.json', 'reply.json', 'told.json'])
const encoder = new TextEncoder()
const head = { id: 'id-1', model: 'own', createdAt: 1_800_000_000, wantsUsage: true }

/** The result, which may be a refusal. */
function outcomeOf(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    expect(error.code).toBe('invalid_request_error')
    return { refused: { message: error.message, param: error.detail.param ?? null } }
  }
}

/** Long lists by their length, so that a thousand equal values are not written out. */
function short(value: unknown): string {
  return show(
    JSON.parse(JSON.stringify(value), (_, each) =>
      Array.isArray(each) && each.length > 20
        ? `${each.length} like ${JSON.stringify(each[0])}`
        : each,
    ),
  )
}

const asked = listOperations.flatMap(({ clients }) =>
  Object.entries(clients).flatMap(([dialect, cases]) =>
    Object.entries(cases).map(([name, body]) => ({ dialect: dialect as DialectId, name, body })),
  ),
)
const sent = listOperations.flatMap(({ vendors, requests }) =>
  vendors.flatMap((dialect) =>
    Object.entries(requests).map(([name, request]) => ({ dialect, name, request })),
  ),
)
const written = listOperations.flatMap(({ clients, replies }) =>
  Object.keys(clients).flatMap((dialect) =>
    Object.entries(replies).map(([name, [reply, request]]) => ({
      dialect: dialect as DialectId,
      name,
      reply,
      request,
    })),
  ),
)
/** Vendors' own replies, by the file of each; the request was two texts, or a query for two. */
const replied = goldenPaths().flatMap((path) => {
  const [dialect = '', file = ''] = path.split('/')
  const known: Dialect | undefined = dialects[dialect as DialectId]
  const isReply = known?.vendor?.list !== undefined && file.endsWith('.vendor.json')
  return isReply ? [{ dialect: known.id, name: file.replace('.vendor.json', ''), path }] : []
})

describe('asked', () => {
  test.each(asked)('$dialect $name is understood as written down', ({ dialect, name, body }) => {
    const address = dialect === 'google-embed' ? { model: 'asked' } : {}
    const outcome = outcomeOf(() => {
      clientOf(dialect).peek(encoder.encode(JSON.stringify(body)), address)
      const { value, dropped } = clientList(dialect).decodeRequest(structuredClone(body), address)
      return { ...value, ...(dropped.length > 0 && { dropped }) }
    })
    files.hold(dialect, name, 'asked.json', short(outcome))
  })

  test.each(sent)('$dialect $name is put as written down', ({ dialect, name, request }) => {
    const outcome = outcomeOf(() => {
      const { value, dropped } = vendorList(dialect).encodeRequest(request, 'own')
      return { body: value, ...(dropped.length > 0 && { dropped }) }
    })
    files.hold(dialect, name, 'sent.json', short(outcome))
  })

  test.each(sent.filter(({ dialect }) => dialect === 'openai-embeddings'))(
    '$dialect $name is read again as it was put',
    ({ dialect, request }) => {
      const { value } = vendorList(dialect).encodeRequest(request, request.model)
      const { purpose: _, ...kept } = request
      const { value: again } = clientList(dialect).decodeRequest(structuredClone(value))
      expect(again).toEqual({ encoding: 'float', ...kept })
    },
  )
})

describe('answered', () => {
  test.each(replied)('$dialect $name is read as written down', ({ dialect, name, path }) => {
    const isRanking = dialects[dialect].operation === 'rerank'
    const texts = ['sunny', 'rainy']
    const request: ListRequest = { model: 'm', texts, ...(isRanking && { query: 'Weather?' }) }
    const body = JSON.parse(readGolden(path)) as JsonValue
    files.hold(dialect, name, 'reply.json', show(vendorList(dialect).readReply(body, request)))
  })

  test.each(written)(
    '$dialect $name is told as written down',
    ({ dialect, name, reply, request }) => {
      files.hold(
        dialect,
        name,
        'told.json',
        show(clientList(dialect).writeReply(reply, request, head)),
      )
    },
  )

  /** A client gets a vendor's reply in one or more forms, with the same contents in each. */
  const readers: Partial<Record<DialectId, readonly DialectId[]>> = {
    'openai-embeddings': ['openai-embeddings', 'voyage-embeddings'],
    rerank: ['cohere-rerank', 'jina-rerank'],
  }

  test.each(written.filter(({ dialect }) => dialect in readers))(
    '$dialect $name is read again as it was told',
    ({ dialect, reply, request }) => {
      const body = clientList(dialect).writeReply(reply, request, head) as JsonValue
      for (const reader of readers[dialect] ?? []) {
        const again = vendorList(reader).readReply(structuredClone(body), request)
        if (isFault(again)) throw new Error(again.message)
        expect(meaning(again)).toEqual(meaning({ ...reply, model: reply.model ?? head.model }))
      }
    },
  )
})

/** Vectors as numbers; searches only for Cohere, which counts one if none is reported. */
function meaning({ searches: _, vectors, ...reply }: ListReply): unknown {
  const { writeReply } = clientList('openai-embeddings')
  const { data } = writeReply({ ...reply, vectors }, { model: '', texts: [] }, head)
  return { ...reply, data }
}

test('every form of lists has its files, and every file is of a kind that something holds', () => {
  const paths = goldenPaths()
  const forms = Object.values(dialects).flatMap(({ id, client, vendor }: Dialect) =>
    (client?.list ?? vendor?.list) === undefined ? [] : [id],
  )
  expect(forms.filter((id) => !paths.some((path) => path.startsWith(`${id}/`)))).toEqual([])
  const kinds =
    /\.(request|returned|refused|back|back-whole|whole|events|asked|sent|reply|told|vendor)\.json$|\.(stream|vendor)\.sse$|\.vendor\.jsonl$/
  expect(paths.filter((path) => !kinds.test(path))).toEqual([])
})

afterAll(() => expect(files.astray()).toEqual([]))
