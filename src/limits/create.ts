// The limiter a deployment asks for: this process alone, or shared through Valkey or Redis.

import type { Limiter } from './limiter.ts'
import { createLocalLimiter } from './local.ts'
import { createValkeyLimiter } from './valkey.ts'

interface LimiterOptions {
  /** `redis://`, `rediss://`, `valkey://` address; null for limits of this process alone. */
  readonly valkeyUrl: string | null
  /** How many servers share the limits until their processes were counted. */
  readonly nodes: number
  /** Processes of each server; without Valkey each keeps to its part. */
  readonly workers: number
  /** Called when limits become shared or local again, with the reason in words. */
  readonly onState: (state: 'shared' | 'local', reason: string) => void
}

export function createLimiter({ valkeyUrl, nodes, workers, onState }: LimiterOptions): Limiter {
  if (valkeyUrl === null) return createLocalLimiter({ workers })
  return createValkeyLimiter({ url: valkeyUrl, nodes: nodes * workers, onState })
}
