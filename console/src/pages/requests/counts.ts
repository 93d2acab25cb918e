// The words and numbers that describe a request: how it ended, its tokens, its speed.

import type { RequestRow } from './queries.ts'

/**
 * `failed` is a refusal by the gateway or the vendor; a stream that broke off has the status with which it began, and
 * an error.
 */
export function endOf({
  status,
  errorCode,
}: Pick<RequestRow, 'status' | 'errorCode'>): 'ok' | 'warning' | 'failed' {
  if (status < 400 && errorCode === null) return 'ok'
  return status < 500 ? 'warning' : 'failed'
}

type Counted = Pick<RequestRow, 'tokens'>

const replyKinds = ['output', 'reasoning', 'audioOutput', 'imageOutput']

/** The sum of every kind: none of them is part of another. */
export function totalTokens({ tokens }: Counted): number {
  return Object.values(tokens).reduce((sum, count) => sum + count, 0)
}

export function replyTokens({ tokens }: Counted): number {
  return replyKinds.reduce((sum, kind) => sum + (tokens[kind] ?? 0), 0)
}

/** For the reply, including reasoning, after the first token; null: too short to say. */
export function tokensPerSecond({
  tokens,
  ttftMs,
  durationMs,
}: Pick<RequestRow, 'tokens' | 'ttftMs' | 'durationMs'>): number | null {
  const writingMs = durationMs - (ttftMs ?? 0)
  const written = (tokens['output'] ?? 0) + (tokens['reasoning'] ?? 0)
  return written === 0 || writingMs < 50 ? null : written / (writingMs / 1_000)
}
