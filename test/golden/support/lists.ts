// Embeddings and reranking: clients' requests in their own formats, vendors' requests, and replies.

import type { DialectId } from '../../../src/wire/formats.ts'
import type { JsonObject } from '../../../src/wire/ir.ts'
import type { ListReply, ListRequest } from '../../../src/wire/list/list.ts'

const texts = ['sunny', 'Grüße 👩‍👩‍👧 שלום']
const usage = { input: 7, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 }

type Cases<T> = Readonly<Record<string, T>>

/** For one operation: the client formats, the vendor formats, and the cases of each direction. */
export interface ListOperation {
  readonly clients: Partial<Record<DialectId, Cases<JsonObject>>>
  readonly vendors: readonly DialectId[]
  readonly requests: Cases<ListRequest>
  readonly replies: Cases<readonly [reply: ListReply, request: ListRequest]>
}

const model = 'asked'
const one = { content: { parts: [{ text: 'sunny' }] } }
const vectors = [
  [0.5, -0.25],
  [1, 0],
]
/** 0.5 and -0.25, 1 and 0 as 32-bit floats. */
const packed = ['AAAAPwAAgL4=', 'AACAPwAAAAA=']
const found: ListReply = { model: 'model-1', vectors, ranking: [], usage }

const embeddings: ListOperation = {
  clients: {
    'openai-embeddings': {
      'asked-text': { model, input: 'sunny' },
      'asked-texts': { model, input: texts, encoding_format: 'base64' },
      'asked-tokens': { model, input: [1, 2, 3] },
      'asked-token-lists': { model, input: [[1, 2], [3]] },
      'asked-shorter': { model, input: 'sunny', dimensions: 256, user: 'ann' },
      'asked-purpose': { model, input: 'sunny', input_type: 'search_query' },
      'asked-purpose-unknown': { model, input: 'sunny', input_type: 'clustering', truncate: 'END' },
      'asked-nothing': { model, input: [] },
      'asked-blank': { model, input: '' },
      'asked-odd-form': { model, input: 'sunny', encoding_format: 'int8' },
    },
    'google-embed': {
      'asked-text': one,
      'asked-parts': { content: { parts: [{ text: 'sun' }, { text: 'ny' }] } },
      'asked-texts': { requests: [one, { content: { parts: [{ text: texts[1] ?? '' }] } }] },
      'asked-shorter': { ...one, outputDimensionality: 256, taskType: 'RETRIEVAL_QUERY' },
      'asked-purpose-unknown': { ...one, taskType: 'CLUSTERING', title: 'A' },
      'asked-mixed': { requests: [one, { ...one, taskType: 'RETRIEVAL_QUERY' }] },
      'asked-image': { content: { parts: [{ inlineData: { mimeType: 'image/png', data: '' } }] } },
      'asked-nothing': { requests: [] },
    },
  },
  vendors: ['openai-embeddings', 'gemini-embeddings', 'cohere-embed', 'voyage-embeddings'],
  requests: {
    text: { model, texts: ['sunny'] },
    texts: { model, texts, encoding: 'base64' },
    tokens: { model, texts: [[1, 2, 3]] },
    shorter: { model, texts: ['sunny'], dimensions: 256 },
    query: { model, texts: ['sunny'], purpose: 'query' },
    document: { model, texts: ['sunny'], purpose: 'document' },
    user: { model, texts: ['sunny'], user: 'ann' },
    many: { model, texts: Array.from({ length: 2_048 }, () => 'x') },
  },
  replies: {
    floats: [found, { model, texts, encoding: 'float' }],
    packed: [
      { ...found, vectors: packed },
      { model, texts, encoding: 'base64' },
    ],
    'packed-to-floats': [
      { ...found, vectors: packed },
      { model, texts, encoding: 'float' },
    ],
    'floats-to-packed': [found, { model, texts, encoding: 'base64' }],
    single: [
      { ...found, vectors: [[1, 0]] },
      { model, texts: ['sunny'], extra: { 'google-embed': { single: true } } },
    ],
    'usage-none': [
      { ...found, usage: null, model: null },
      { model, texts },
    ],
  },
}

const ranked: ListReply = {
  model: 'model-1',
  vectors: [],
  ranking: [
    { index: 1, score: 0.75 },
    { index: 0, score: 0.25 },
  ],
  usage,
}
const query = 'Weather?'

const reranking: ListOperation = {
  clients: {
    rerank: {
      'asked-texts': { model, query, documents: texts },
      'asked-objects': { model, query, documents: [{ text: 'sunny' }, { text: 'rainy', id: 1 }] },
      'asked-best': { model, query, documents: texts, top_n: 1, return_documents: true },
      'asked-more': { model, query, documents: texts, max_tokens_per_doc: 100, truncation: true },
      'asked-no-query': { model, documents: texts },
      'asked-nothing': { model, query, documents: [] },
      'asked-odd-document': { model, query, documents: ['sunny', 7] },
      'asked-none-of-them': { model, query, documents: texts, top_n: 0 },
    },
    score: {
      'asked-texts': { model, text_1: query, text_2: texts },
      'asked-text': { model, text_1: [query], text_2: 'sunny', truncate_prompt_tokens: 9 },
      'asked-pairs': { model, text_1: texts, text_2: texts },
      'asked-nothing': { model, text_1: query, text_2: [] },
    },
  },
  vendors: ['cohere-rerank', 'jina-rerank', 'voyage-rerank'],
  requests: {
    texts: { model, query, texts },
    best: { model, query, texts, most: 1, withTexts: true },
    many: { model, query, texts: Array.from({ length: 1_001 }, () => 'x') },
  },
  replies: {
    ranking: [ranked, { model, query, texts }],
    'with-texts': [ranked, { model, query, texts, withTexts: true }],
    searches: [
      { ...ranked, usage: null, searches: 3 },
      { model, query, texts },
    ],
    'usage-none': [
      { ...ranked, usage: null, model: null },
      { model, query, texts },
    ],
  },
}

export const listOperations: readonly ListOperation[] = [embeddings, reranking]
