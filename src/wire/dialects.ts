// The dialects spoken here, each put together from its parts: the only place that knows them all.

import { anthropicMessages } from './anthropic-messages/dialect.ts'
import { bedrockConverse } from './bedrock-converse/dialect.ts'
import { cohereEmbed } from './cohere-embed/embed.ts'
import { cohereV2 } from './cohere-v2/dialect.ts'
import type { Dialect } from './dialect.ts'
import type { DialectId, Operation } from './formats.ts'
import { gemini } from './gemini/dialect.ts'
import { googleEmbed, peekGoogleEmbeddings } from './gemini-embeddings/client.ts'
import { geminiEmbeddings } from './gemini-embeddings/embeddings.ts'
import { openaiBase } from './openai/base.ts'
import { audioDialects } from './openai-audio/dialects.ts'
import { chatHub } from './openai-chat/hub.ts'
import { peekChat } from './openai-chat/peek.ts'
import { compactionHub } from './openai-compaction/hub.ts'
import { peekCompaction } from './openai-compaction/peek.ts'
import { completionsHub } from './openai-completions/hub.ts'
import { peekCompletions } from './openai-completions/peek.ts'
import { embeddingsList } from './openai-embeddings/list.ts'
import { peekEmbeddings } from './openai-embeddings/peek.ts'
import { hasOtherForm, wholeEmbeddings } from './openai-embeddings/whole.ts'
import { imageDialects } from './openai-images/dialects.ts'
import { moderations } from './openai-moderations/dialect.ts'
import { realtime } from './openai-realtime/dialect.ts'
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
import { cohereRerank, jinaRerank, voyageRerank } from './rerank/vendors.ts'
import { type ListVendorSide, vendorSide } from './vendor-side.ts'
import { voyageEmbeddings } from './voyage/embeddings.ts'

/** A vendor's own form of embeddings or reranking. */
function listOnly(id: DialectId, operation: Operation, list: ListVendorSide): Dialect {
  return vendorSide({ id, operation, path: '', list })
}

const openaiResponses: Dialect = {
  ...openaiBase,
  id: 'openai-responses',
  operation: 'chat',
  path: '/responses',
  idPrefix: 'resp_',
  terminator: '',
  usageAlways: true,
  // Codex: the turn's next requests are to reach the server that keeps its state.
  stateHeaders: ['x-codex-turn-state'],
  // OpenAI opens it for the organisation alone that it was made for.
  sealName: 'encrypted_content',
  peek: peekResponses,
  frames: () => new ResponsesFrames(),
  watcher: () => new ResponsesWatcher(),
  whole: readWholeResponse,
  withCost: withResponseCost,
  errorFrames,
  hub: responsesHub,
  toolMarks,
}

export const dialects: Readonly<Record<DialectId, Dialect>> = {
  'openai-chat': {
    ...openaiBase,
    id: 'openai-chat',
    operation: 'chat',
    path: '/chat/completions',
    idPrefix: 'chatcmpl-',
    peek: peekChat,
    hub: chatHub,
  },
  'openai-completions': {
    ...openaiBase,
    id: 'openai-completions',
    operation: 'completion',
    path: '/completions',
    idPrefix: 'cmpl-',
    peek: peekCompletions,
    hub: completionsHub,
  },
  ...imageDialects,
  ...audioDialects,
  'openai-moderations': moderations,
  'openai-realtime': realtime,
  'openai-videos': videos,
  'openai-embeddings': {
    ...openaiBase,
    id: 'openai-embeddings',
    operation: 'embedding',
    path: '/embeddings',
    idPrefix: '',
    peek: peekEmbeddings,
    whole: (body, peek, quirks) => wholeEmbeddings(body, peek.encodingFormat, quirks),
    mustRecode: (head, peek) => hasOtherForm(head, peek.encodingFormat),
    list: embeddingsList,
  },
  'google-embed': {
    ...gemini,
    id: 'google-embed',
    operation: 'embedding',
    path: '/models/*:embedContent',
    peek: peekGoogleEmbeddings,
    hub: null,
    list: googleEmbed,
  },
  'gemini-embeddings': listOnly('gemini-embeddings', 'embedding', geminiEmbeddings),
  'cohere-embed': listOnly('cohere-embed', 'embedding', cohereEmbed),
  'voyage-embeddings': listOnly('voyage-embeddings', 'embedding', voyageEmbeddings),
  rerank: {
    ...openaiBase,
    id: 'rerank',
    operation: 'rerank',
    path: '/rerank',
    idPrefix: 'rerank-',
    peek: peekRerank,
    list: rerankList,
  },
  'cohere-rerank': listOnly('cohere-rerank', 'rerank', cohereRerank),
  'jina-rerank': listOnly('jina-rerank', 'rerank', jinaRerank),
  'voyage-rerank': listOnly('voyage-rerank', 'rerank', voyageRerank),
  'anthropic-messages': anthropicMessages,
  'openai-responses': openaiResponses,
  'openai-compaction': {
    ...openaiResponses,
    id: 'openai-compaction',
    path: '/responses/compact',
    sealedBy: 'openai-responses',
    peek: peekCompaction,
    hub: compactionHub,
  },
  'cohere-v2': cohereV2,
  'bedrock-converse': bedrockConverse,
  gemini,
}
