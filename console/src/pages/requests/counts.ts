// What is said of a request in a word or a number: how it ended, its tokens, its speed.

import type { RequestRow } from './queries.ts'

/** `failed` is the gateway's or the vendor's refusal; a stream that broke off has the status it began with, and an error. */
export function endOf({
  status,
  errorCode,
}: Pick<RequestRow, 'status' | 'errorCode'>): 'ok' | 'warning' | 'failed' {
  if (status < 400 && errorCode === null) return 'ok'
  return status < 500 ? 'warning' : 'failed'
}

type Counted = Pick<RequestRow, 'tokens'>

const replyKinds = ['output', 'reasoning', 'audioOutput', 'imageOutput']

/** Of every kind: none of them is part of another. */
export function totalTokens({ tokens }: Counted): number {
  return Object.values(tokens).reduce((sum, count) => sum + count, 0)
}

export function replyTokens({ tokens }: Counted): number {
  return replyKinds.reduce((sum, kind) => sum + (tokens[kind] ?? 0), 0)
}

/** Of the reply, thought included, after the first token; null: too short to say. */
export function tokensPerSecond({
  tokens,
  ttftMs,
  durationMs,
}: Pick<RequestRow, 'tokens' | 'ttftMs' | 'durationMs'>): number | null {
  const writingMs = durationMs - (ttftMs ?? 0)
  const written = (tokens['output'] ?? 0) + (tokens['reasoning'] ?? 0)
  return written === 0 || writingMs < 50 ? null : written / (writingMs / 1_000)
}
