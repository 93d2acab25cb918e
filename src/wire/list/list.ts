// Operations whose reply is one list, embeddings and reranking, independent of any format.

import type { Extra, Usage } from '../ir.ts'

export interface ListRequest {
  readonly model: string
  /** What is embedded, or the documents that are ranked; a list of numbers is one text as token ids. */
  readonly texts: readonly (string | readonly number[])[]
  /** Reranking: what the documents are ranked for. */
  readonly query?: string
  /** Reranking: only so many of the best. */
  readonly most?: number
  /** Reranking: the documents' texts are wanted in the reply. */
  readonly withTexts?: boolean
  /** Embeddings: how long a vector is to be. */
  readonly dimensions?: number
  /** Embeddings: the form the client reads vectors in. */
  readonly encoding?: 'float' | 'base64'
  /** Embeddings: what the texts are to each other, as Cohere and Voyage ask it. */
  readonly purpose?: 'query' | 'document'
  readonly user?: string
  readonly extra?: Extra
}

export interface Ranked {
  readonly index: number
  readonly score: number
}

export interface ListReply {
  /** null where the vendor does not say. */
  readonly model: string | null
  /** Embeddings, in the order of the texts: numbers, or base64 of 32-bit floats. */
  readonly vectors: readonly (string | readonly number[])[]
  /** Reranking, best first. */
  readonly ranking: readonly Ranked[]
  readonly usage: Usage | null
  /** As `Watcher.unbelieved`. */
  readonly unbelieved?: true
  /** Reranking: searches as the vendor bills them; absent where it does not say. */
  readonly searches?: number
}
