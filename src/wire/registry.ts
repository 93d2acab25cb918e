// The dialects in use, each built from its parts: text formats at once, others when their operation is loaded.

import { anthropicMessages } from './anthropic-messages/dialect.ts'
import { bedrockConverse } from './bedrock-converse/dialect.ts'
import type { VendorList } from './codec.ts'
import { cohereEmbed } from './cohere-embed/embed.ts'
import { cohereV2 } from './cohere-v2/dialect.ts'
import { type Dialect, type Dialects, format } from './dialect.ts'
import type { DialectId, VendorDialectId } from './formats.ts'
import { gemini, googleClient } from './gemini/dialect.ts'
import { googleEmbed, peekGoogleEmbeddings } from './gemini-embeddings/client.ts'
import { geminiEmbeddings } from './gemini-embeddings/embeddings.ts'
import { openaiClient, openaiIdentity, openaiVendor } from './openai/base.ts'
import { chatHub } from './openai-chat/hub.ts'
import { compactionHub } from './openai-compaction/hub.ts'
import { peekCompaction } from './openai-compaction/peek.ts'
import { completionsHub } from './openai-completions/hub.ts'
import { peekCompletions } from './openai-completions/peek.ts'
import { embeddingsList } from './openai-embeddings/list.ts'
import { peekEmbeddings } from './openai-embeddings/peek.ts'
import { hasOtherForm, wholeEmbeddings } from './openai-embeddings/whole.ts'
import { moderations } from './openai-moderations/dialect.ts'
import { peekChatOrResponse } from './openai-responses/as-chat.ts'
import { toolMarks } from './openai-responses/client-tools.ts'
import { errorFrames } from './openai-responses/errors.ts'
import { ResponsesFrames } from './openai-responses/frames.ts'
import { responsesHub } from './openai-responses/hub.ts'
import { peekResponses } from './openai-responses/peek.ts'
import { ResponsesWatcher } from './openai-responses/watcher.ts'
import {
  readWhole as readWholeResponse,
  withCost as withResponseCost,
} from './openai-responses/whole.ts'
import { videos } from './openai-videos/dialect.ts'
import { peekRerank } from './rerank/peek.ts'
import { rerankList } from './rerank/rerank.ts'
import { peekScore, scoreList } from './rerank/score.ts'
import { cohereRerank, jinaRerank, voyageRerank } from './rerank/vendors.ts'
import { maxFileFrameBytes } from './sse.ts'
import { startCheck } from './stream-start.ts'
import { voyageEmbeddings } from './voyage/embeddings.ts'

/** A vendor's own format for embeddings or reranking. */
function listOnly(id: VendorDialectId, list: VendorList) {
  return format(id, { vendor: { ...openaiVendor, list } })
}

const openaiResponses = format('openai-responses', {
  client: {
    ...openaiClient,
    path: '/responses',
    idPrefix: 'resp_',
    peek: peekResponses,
    withCost: withResponseCost,
    errorFrames,
    hub: responsesHub,
  },
  vendor: {
    ...openaiVendor,
    usageAlways: true,
    // Codex: later requests of the turn must reach the server that keeps its state.
    stateHeaders: ['x-codex-turn-state'],
    toolMarks,
    // Only the OpenAI organisation for which it was made can open it.
    opaqueMember: 'encrypted_content',
    frames: () => new ResponsesFrames(),
    hub: responsesHub,
  },
  identity: {
    ...openaiIdentity,
    terminator: '',
    maxFrameBytes: maxFileFrameBytes,
    lacksStart: startCheck('response.created', (type) => /^response\.(?!created$)/.test(type)),
    watcher: ({ quirks }) => new ResponsesWatcher(quirks),
    whole: (body, _peek, quirks) => readWholeResponse(body, quirks),
  },
})

const openaiCompaction = format('openai-compaction', {
  client: {
    ...openaiResponses.client,
    path: '/responses/compact',
    peek: peekCompaction,
    hub: compactionHub,
  },
  vendor: { ...openaiResponses.vendor, opaqueFrom: 'openai-responses', hub: compactionHub },
  identity: openaiResponses.identity,
})

/** Text formats, and videos, whose jobs outlive their requests. */
export const textDialects = {
  'openai-chat': format('openai-chat', {
    client: {
      ...openaiClient,
      path: '/chat/completions',
      idPrefix: 'chatcmpl-',
      peek: peekChatOrResponse,
      hub: chatHub,
    },
    vendor: { ...openaiVendor, hub: chatHub },
    identity: openaiIdentity,
  }),
  'openai-completions': format('openai-completions', {
    client: {
      ...openaiClient,
      path: '/completions',
      idPrefix: 'cmpl-',
      peek: peekCompletions,
      hub: completionsHub,
    },
    vendor: { ...openaiVendor, hub: completionsHub },
    identity: openaiIdentity,
  }),
  'openai-moderations': moderations,
  'openai-videos': videos,
  'openai-embeddings': format('openai-embeddings', {
    client: {
      ...openaiClient,
      path: '/embeddings',
      idPrefix: '',
      peek: peekEmbeddings,
      list: embeddingsList,
    },
    vendor: { ...openaiVendor, list: embeddingsList },
    identity: {
      ...openaiIdentity,
      whole: (body, peek, quirks) => wholeEmbeddings(body, peek.encodingFormat, quirks),
      mustRecode: (head, peek) => hasOtherForm(head, peek.encodingFormat),
    },
  }),
  'google-embed': format('google-embed', {
    client: {
      ...googleClient,
      path: '/models/*:embedContent',
      peek: peekGoogleEmbeddings,
      list: googleEmbed,
    },
  }),
  'gemini-embeddings': listOnly('gemini-embeddings', geminiEmbeddings),
  'cohere-embed': listOnly('cohere-embed', cohereEmbed),
  'voyage-embeddings': listOnly('voyage-embeddings', voyageEmbeddings),
  rerank: format('rerank', {
    client: {
      ...openaiClient,
      path: '/rerank',
      idPrefix: 'rerank-',
      peek: peekRerank,
      list: rerankList,
    },
  }),
  score: format('score', {
    client: {
      ...openaiClient,
      path: '/score',
      idPrefix: 'score-',
      peek: peekScore,
      list: scoreList,
    },
  }),
  'cohere-rerank': listOnly('cohere-rerank', cohereRerank),
  'jina-rerank': listOnly('jina-rerank', jinaRerank),
  'voyage-rerank': listOnly('voyage-rerank', voyageRerank),
  'anthropic-messages': anthropicMessages,
  'openai-responses': openaiResponses,
  'openai-compaction': openaiCompaction,
  'cohere-v2': cohereV2,
  'bedrock-converse': bedrockConverse,
  gemini,
} satisfies Partial<Dialects>

/** The other formats are added with the first request that needs them. */
const known: Partial<Dialects> = { ...textDialects }

export function addDialects(more: Partial<Dialects>): void {
  Object.assign(known, more)
}

/** A request's own dialect is always in it, for an operation is loaded together with its formats. */
export const dialects = known as Dialects

/** Any dialect by its id; undefined while its operation is not loaded. */
export function loadedDialect(id: DialectId): Dialect | undefined {
  return known[id]
}
