// What routes ask of the process that runs: what it offers at the moment, which settings count, and how its channels are.

import type { Audit } from '../../admin/audit.ts'
import type { ChannelWatch } from '../../admin/channel-view.ts'
import type { Offer } from '../../admin/offer.ts'
import type { StoredRooms } from '../../admin/with-stored.ts'
import type { RunTimeSettings } from '../../config/run-time.ts'
import type { Config } from '../../config/types.ts'
import type { Arrival } from '../../store/arrivals.ts'
import type { ProcessReading } from '../../store/running.ts'

export interface Running {
  offer(): Promise<Offer>
  settings(): RunTimeSettings
  /** With the channels that serve: of the file, of the environment or built in. */
  config(): Config
  /** How this process does. */
  reading(): ProcessReading
  /** What the file says, and what opens the secrets of the store's channels. */
  readonly stored: StoredRooms
  readonly channels: ChannelWatch
  /** Requests that came with mistakes, to this process and others. */
  arrivals(): Promise<readonly Arrival[]>
  /** In a process of its own, which ends where it is aborted. Rejects with what it said. */
  audit(signal: AbortSignal): Promise<Audit>
}
