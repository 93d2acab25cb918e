// What a process has once: it outlives configuration changes, and each builder takes the parts it needs.

import type { DiskFiles } from '../blobs/hosting-disk.ts'
import type { Spools } from '../blobs/spool.ts'
import type { Doctor } from '../http/doctor.ts'
import type { KeyUses } from '../http/key-uses.ts'
import type { Load } from '../http/load.ts'
import type { createKeyring } from '../identity/keyring.ts'
import type { LedgerNode } from '../ledger/ledger-node.ts'
import type { createLimiter } from '../limits/create.ts'
import type { OutputEstimates } from '../meter/output-estimate.ts'
import type { Background } from '../operations/responses/background.ts'
import type { ResponseKeeper } from '../operations/responses/keeper.ts'
import type { VideoJobs } from '../operations/videos/jobs.ts'
import type { Deadlines } from '../relay/deadlines.ts'
import type { Traces } from '../relay/request-spans.ts'
import type { Health, HealthControl, HealthReport } from '../router/route.ts'
import type { Store } from '../store/store.ts'
import type { Denials } from '../telemetry/denials.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { createDialer } from '../upstream/dial.ts'
import type { HistoryParts } from './history.ts'
import type { Prices } from './prices.ts'

export interface ProcessParts {
  readonly log: Log
  readonly store: Store
  readonly health: Health & HealthControl & HealthReport
  readonly limiter: ReturnType<typeof createLimiter>
  readonly metrics: Metrics
  /** null: no collector is configured. */
  readonly traces: Traces | null
  readonly keyring: ReturnType<typeof createKeyring>
  readonly keyUses: KeyUses
  readonly ledger: LedgerNode
  readonly kept: { readonly keeper: ResponseKeeper; readonly background: Background }
  /** Hosted results on this machine's disk. */
  readonly diskFiles: DiskFiles
  readonly load: Load
  readonly denials: Denials
  readonly doctor: Doctor
  readonly dialer: ReturnType<typeof createDialer>
  readonly deadlines: Deadlines
  readonly spools: Spools
  readonly videoJobs: VideoJobs
  readonly estimates: OutputEstimates
  readonly prices: Prices
  readonly history: HistoryParts
}
