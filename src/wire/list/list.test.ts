// Tests embeddings and reranking from OpenAI's, Cohere's and Jina's clients to vendors of other formats, and back.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { clientList, clientOf, vendorList } from '../../../test/support/dialects.ts'
import { dialects } from '../dialects.ts'
import type { DialectId } from '../formats.ts'
import { geminiEmbeddings } from '../gemini-embeddings/embeddings.ts'
import type { JsonObject, JsonValue } from '../ir.ts'
import { unpackVector } from '../openai-embeddings/vectors.ts'
import { bytesOf } from '../testing.ts'
import { isFault } from './fields.ts'

const head = { id: 'rerank-1', model: 'm', createdAt: 1, wantsUsage: true }

/** The request that the vendor gets, and the client's reply made from its answer. */
function through(client: DialectId, vendor: DialectId, body: JsonObject, answer: JsonObject = {}) {
  clientOf(client).peek(bytesOf(JSON.stringify(body)))
  const { value, dropped } = clientList(client).decodeRequest(body)
  const sent = vendorList(vendor).encodeRequest(value, 'own')
  const reply = vendorList(vendor).readReply(answer, value)
  const shown = isFault(reply) ? reply : clientList(client).writeReply(reply, value, head)
  return { sent: sent.value, dropped: [...dropped, ...sent.dropped], shown }
}

const texts = ['sunny', 'rainy']
const asked = { model: 'm', input: texts }

describe('embeddings', () => {
  const numbers = [
    [0.5, -0.25],
    [1, 0],
  ]
  const answers: Readonly<Record<string, JsonObject>> = {
    'voyage-embeddings': {
      data: numbers.map((embedding, index) => ({ object: 'embedding', index, embedding })),
      model: 'voyage-3.5',
      usage: { total_tokens: 4 },
    },
    'cohere-embed': {
      embeddings: { float: numbers },
      meta: { billed_units: { input_tokens: 4 }, tokens: { input_tokens: 9 } },
    },
    'gemini-embeddings': { embeddings: numbers.map((values) => ({ values })) },
  }

  test.each(Object.entries(answers))('by %s come in the form that was asked for', (id, answer) => {
    const vendor = id as DialectId
    const floats = through('openai-embeddings', vendor, asked, answer)
    expect(floats.shown).toMatchObject({
      object: 'list',
      data: numbers.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    })
    if (id !== 'gemini-embeddings')
      expect(floats.shown).toMatchObject({ usage: { prompt_tokens: 4, total_tokens: 4 } })
    const body = { ...asked, encoding_format: 'base64' }
    const { shown } = through('openai-embeddings', vendor, body, answer)
    const packed = (shown as { data: { embedding: string }[] }).data.map(
      ({ embedding }) => embedding,
    )
    expect(packed.map(unpackVector)).toEqual(numbers)
  })

  test('W52: base64 of the vendor is numbers for who asked for numbers', () => {
    const vectors = new Uint8Array(new Float32Array([0.5, -0.25]).buffer).toBase64()
    const answer = { embeddings: { base64: [vectors] } }
    const body = { ...asked, input: 'sunny', encoding_format: 'base64' }
    expect(through('openai-embeddings', 'cohere-embed', body, answer).shown).toMatchObject({
      data: [{ embedding: vectors }],
    })
    const data = [{ index: 0, embedding: vectors }]
    expect(
      through('openai-embeddings', 'voyage-embeddings', { ...asked, input: 'sunny' }, { data })
        .shown,
    ).toMatchObject({ data: [{ embedding: [0.5, -0.25] }] })
  })

  test('are asked for as each vendor has it', () => {
    const body = { ...asked, dimensions: 256, user: 'u', input_type: 'query', extra: 1 }
    expect(through('openai-embeddings', 'voyage-embeddings', body)).toMatchObject({
      sent: { model: 'own', input: texts, output_dimension: 256, input_type: 'query' },
      dropped: ['extra', 'user'],
    })
    expect(through('openai-embeddings', 'cohere-embed', body)).toMatchObject({
      sent: {
        model: 'own',
        texts,
        output_dimension: 256,
        input_type: 'search_query',
        embedding_types: ['float'],
      },
      dropped: ['extra', 'user'],
    })
    const request = { model: 'models/own', outputDimensionality: 256, taskType: 'RETRIEVAL_QUERY' }
    expect(through('openai-embeddings', 'gemini-embeddings', body).sent).toEqual({
      requests: texts.map((text) => ({ ...request, content: { parts: [{ text }] } })),
    })
    expect(through('openai-embeddings', 'cohere-embed', asked).sent['input_type']).toBe(
      'search_document',
    )
  })

  test('of Gemini are counted as Google reports them, where it does', () => {
    const body = { model: 'm', input: ['a'] }
    const embeddings = [{ values: [1, 0] }]
    const replyOf = (usageMetadata: JsonValue) =>
      geminiEmbeddings.readReply(
        { embeddings, usageMetadata },
        { model: 'm', texts: body.input, encoding: 'float' },
      )
    expect(replyOf({ promptTokenCount: 12 })).toMatchObject({ usage: { input: 12, output: 0 } })
    expect(replyOf(null)).toMatchObject({ usage: null })
    expect(replyOf({ promptTokenCount: 1e300 })).toMatchObject({ usage: null, unbelieved: true })
  })

  test('shortened by Gemini are of length one', () => {
    const answer = { embeddings: [{ values: [3, 4] }] }
    const body = { ...asked, input: 'sunny', dimensions: 2 }
    expect(through('openai-embeddings', 'gemini-embeddings', body, answer).shown).toMatchObject({
      data: [{ embedding: [0.6, 0.8] }],
    })
  })

  test.each(['voyage-embeddings', 'cohere-embed', 'gemini-embeddings'] as const)(
    'of token ids are refused by %s, one list or several',
    (vendor) => {
      for (const input of [
        [1, 2],
        [[1], [2]],
      ])
        expect(() => through('openai-embeddings', vendor, { model: 'm', input })).toThrow(
          'takes texts, not token ids',
        )
    },
  )

  test('more than the vendor takes at once are refused with its number', () => {
    const input = Array.from({ length: 101 }, () => 'x')
    expect(() => through('openai-embeddings', 'cohere-embed', { model: 'm', input })).toThrow(
      'Cohere takes at most 96 texts',
    )
    expect(() => through('openai-embeddings', 'gemini-embeddings', { model: 'm', input })).toThrow(
      'Gemini takes at most 100 texts',
    )
  })

  test('any vector survives the change of form, to the precision of its 32 bits', () => {
    const float = fc.float({ noNaN: true, noDefaultInfinity: true })
    fc.assert(
      fc.property(fc.array(float, { minLength: 1 }), (vector) => {
        const answer = { embeddings: { float: [vector] } }
        const body = { model: 'm', input: 'x', encoding_format: 'base64' }
        const { shown } = through('openai-embeddings', 'cohere-embed', body, answer)
        const [item] = (shown as { data: { embedding: string }[] }).data
        expect(unpackVector(item?.embedding ?? '')).toEqual(vector)
      }),
    )
  })
})

describe('reranking', () => {
  const body = { model: 'm', query: 'sea?', documents: texts, top_n: 2 }
  const ranking = [
    { index: 1, relevance_score: 0.75 },
    { index: 0, relevance_score: 0.25 },
  ]

  test.each([
    ['cohere-rerank', { results: ranking }, { top_n: 2 }],
    ['jina-rerank', { results: ranking, usage: { total_tokens: 9 } }, { top_n: 2 }],
    ['voyage-rerank', { data: ranking, usage: { total_tokens: 9 } }, { top_k: 2 }],
  ] as const)('by %s, read by clients of Cohere and of Jina', (vendor, answer, most) => {
    const { sent, shown } = through('rerank', vendor, body, answer as unknown as JsonObject)
    expect(sent).toMatchObject({ model: 'own', query: 'sea?', documents: texts, ...most })
    expect(shown).toMatchObject({ id: 'rerank-1', results: ranking, meta: { billed_units: {} } })
  })

  test('the best comes first where a server lists the results in the order of the documents', () => {
    const results = [
      { index: 0, relevance_score: 0.25 },
      { index: 1, relevance_score: 0.75 },
    ]
    const { shown } = through('rerank', 'cohere-rerank', body, { results })
    expect(shown).toMatchObject({ results: ranking })
  })

  test('no more results than asked for are shown where a server ranks every document', () => {
    const asks = { ...body, top_n: 1 }
    const { shown } = through('rerank', 'cohere-rerank', asks, { results: ranking.toReversed() })
    expect(shown).toMatchObject({ results: ranking.slice(0, 1) })
    const all = { model: 'm', query: 'sea?', documents: texts }
    expect(through('rerank', 'cohere-rerank', all, { results: ranking }).shown).toMatchObject({
      results: ranking,
    })
  })

  test('searches are shown and counted as Cohere bills them', () => {
    const answer = { results: ranking, meta: { billed_units: { search_units: 3 } } }
    const { shown } = through('rerank', 'cohere-rerank', body, answer)
    expect(shown).toMatchObject({ meta: { billed_units: { search_units: 3 } } })
    const { value } = clientList('rerank').decodeRequest(body)
    for (const [units, searches] of [
      [3, 3],
      [0, undefined],
      ['3', undefined],
      [1e12, undefined],
    ] as const) {
      const meta = { billed_units: { search_units: units } }
      const reply = vendorList('cohere-rerank').readReply({ results: ranking, meta }, value)
      expect('searches' in reply ? reply.searches : undefined).toBe(searches)
    }
  })

  test.each([
    [['sunny'], 1],
    [Array.from({ length: 100 }, () => 'x'), 1],
    [Array.from({ length: 101 }, () => ({ text: 'x' })), 2],
    // Long documents count as several.
    [Array.from({ length: 100 }, () => 'x'.repeat(2_000)), 2],
  ])('the searches of a request are bounded by its documents (%#)', (documents, searches) => {
    const asks = { ...body, documents }
    expect(dialects.rerank.client.peek(bytesOf(JSON.stringify(asks))).units).toEqual({
      search: searches,
    })
  })

  test('documents come back where they are wanted, whatever the vendor sends', () => {
    const documents = [{ text: 'sunny' }, 'rainy']
    const wanting = { ...body, documents, return_documents: true }
    const { shown } = through('rerank', 'cohere-rerank', wanting, { results: ranking })
    expect(shown).toMatchObject({
      results: [{ document: { text: 'rainy' } }, { document: { text: 'sunny' } }],
    })
    const { shown: without } = through('rerank', 'cohere-rerank', body, { results: ranking })
    expect(JSON.stringify(without)).not.toContain('rainy')
  })

  test.each([
    [{ text_2: ['a'] }, 'text_1 is required'],
    [{ text_1: 'a' }, 'text_2 is required'],
    [{ text_1: ['a', 'b'], text_2: ['c', 'd'] }, 'text_1 must be a string, or an array of one'],
    [{ text_1: [], text_2: ['c'] }, 'text_1 must be a string, or an array of one'],
    [{ text_1: [1], text_2: ['c'] }, 'text_1 must be a string, or an array of one'],
    [{ text_1: 'a', text_2: [] }, 'text_2 must not be empty'],
    [{ text_1: 'a', text_2: [1] }, 'text_2[0] must be a string'],
    [{ text_1: 'a', text_2: 1 }, 'text_2 must be a string or an array'],
  ])('scores are refused by the field (%#)', (fields, message) => {
    const bytes = bytesOf(JSON.stringify({ model: 'm', ...fields }))
    expect(() => dialects.score.client.peek(bytes)).toThrow(message)
  })

  test('the searches of one long text that is scored are bounded by its length', () => {
    const asks = { model: 'm', text_1: 'a', text_2: 'x'.repeat(200_000) }
    expect(dialects.score.client.peek(bytesOf(JSON.stringify(asks))).units).toEqual({ search: 2 })
  })

  test.each([
    ['an index of no document', { results: [{ index: 2, relevance_score: 1 }] }, 'unreadable'],
    ['no score', { results: [{ index: 0 }] }, 'unreadable'],
    ['no list', { id: 'x' }, 'unreadable'],
  ])('%s is a fault', (_what, answer, kind) => {
    expect(through('rerank', 'cohere-rerank', body, answer as JsonObject).shown).toMatchObject({
      kind,
    })
  })

  test.each([
    [{ model: 'm', documents: ['a'] }, 'query is required'],
    [{ model: 'm', query: 'q' }, 'documents is required'],
    [{ model: 'm', query: 'q', documents: 'a' }, 'documents must be an array'],
    [{ model: 'm', query: 'q', documents: [] }, 'documents must not be empty'],
    [{ model: 'm', query: 'q', documents: ['a', 1] }, 'documents[1] must be a string'],
    [{ model: 'm', query: 'q', documents: ['a'], top_n: 0 }, 'top_n must be an integer'],
    [{ model: 'm', query: 5, documents: ['a'] }, 'query must be a string'],
  ])('%j is refused', (wrong, why) => {
    expect(() => dialects.rerank.client.peek(bytesOf(JSON.stringify(wrong)))).toThrow(why)
  })
})
