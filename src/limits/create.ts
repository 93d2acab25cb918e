// Creates the limiter a deployment configures: of this process alone, or shared through Valkey or Redis.

import type { Limiter } from './limiter.ts'
import { createLocalLimiter } from './local.ts'
import { createValkeyLimiter } from './valkey.ts'

interface LimiterOptions {
  /** `redis://`, `rediss://` or `valkey://` address; null for limits of this process alone. */
  readonly valkeyUrl: string | null
  /** How many servers to expect before their processes have been counted. */
  readonly nodes: number
  /** Processes on each server; without Valkey each enforces its share. */
  readonly workers: number
  /** Called when limits become shared or local again, with the reason as text. */
  readonly onState: (state: 'shared' | 'local', reason: string) => void
}

export function createLimiter({ valkeyUrl, nodes, workers, onState }: LimiterOptions): Limiter {
  if (valkeyUrl === null) return createLocalLimiter({ workers })
  return createValkeyLimiter({ url: valkeyUrl, nodes: nodes * workers, onState })
}
