// Operations whose reply is one list (embeddings and reranking), independent of any format.

import type { Extra, Usage } from '../ir.ts'

export interface ListRequest {
  readonly model: string
  /** The texts to embed, or the documents to rank; a list of numbers is one text as token ids. */
  readonly texts: readonly (string | readonly number[])[]
  /** For reranking: the query that the documents are ranked for. */
  readonly query?: string
  /** For reranking: the number of best results to return. */
  readonly most?: number
  /** For reranking: the reply should contain the documents' texts. */
  readonly withTexts?: boolean
  /** For embeddings: the length of the vectors. */
  readonly dimensions?: number
  /** For embeddings: the encoding of vectors that the client expects. */
  readonly encoding?: 'float' | 'base64'
  /** For embeddings: the role of the texts, as Cohere and Voyage define it. */
  readonly purpose?: 'query' | 'document'
  readonly user?: string
  readonly extra?: Extra
}

export interface Ranked {
  readonly index: number
  readonly score: number
}

export interface ListReply {
  /** The model the vendor reports; null where it reports none. */
  readonly model: string | null
  /** For embeddings, in the order of the texts: numbers, or base64 of 32-bit floats. */
  readonly vectors: readonly (string | readonly number[])[]
  /** For reranking: best first. */
  readonly ranking: readonly Ranked[]
  readonly usage: Usage | null
  /** See `Watcher.unbelieved`. */
  readonly unbelieved?: true
  /** For reranking: searches as the vendor bills them; absent where it does not report them. */
  readonly searches?: number
}
