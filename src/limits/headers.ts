// The x-ratelimit-* reply headers, in OpenAI's spelling.

import type { LimitGauge, LimitState } from './limiter.ts'

type HeaderPair = readonly [name: string, value: string]

/** The headers for a state; none where nothing is limited. Values are integers, and durations in Go's notation. */
export function limitHeaders(state: LimitState): readonly HeaderPair[] {
  if (state.requests === null && state.tokens === null) return none
  return [...pairs('requests', state.requests), ...pairs('tokens', state.tokens)]
}

const none: readonly HeaderPair[] = Object.freeze([])

function pairs(kind: 'requests' | 'tokens', gauge: LimitGauge | null): readonly HeaderPair[] {
  if (gauge === null) return none
  return [
    [`x-ratelimit-limit-${kind}`, String(gauge.limit)],
    [`x-ratelimit-remaining-${kind}`, String(gauge.remaining)],
    [`x-ratelimit-reset-${kind}`, goDuration(gauge.resetMs)],
  ]
}

/**
 * Whole milliseconds as Go's `Duration.String` prints them and OpenAI sends them:
 * `0s`, `12ms`, `1.5s`, `6m0s`, `1h0m0s`. Source: Go standard library, package time.
 */
export function goDuration(durationMs: number): string {
  const ms = Math.max(0, Math.ceil(durationMs))
  if (ms === 0) return '0s'
  if (ms < 1_000) return `${ms}ms`
  const seconds = (ms % 60_000) / 1_000
  const minutes = Math.floor(ms / 60_000)
  if (minutes === 0) return `${seconds}s`
  if (minutes < 60) return `${minutes}m${seconds}s`
  return `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}s`
}
