// What routes ask of the running process: its settings in force, configuration, readings and channels.

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
  /** Includes the settings of the channels in use, whether from the file, the environment or built in. */
  config(): Config
  /** Measurements of this process. */
  reading(): ProcessReading
  /** What the file configures, and the means to decrypt the secrets of the store's channels. */
  readonly stored: StoredRooms
  readonly channels: ChannelWatch
  /** Mistaken requests that this and other processes received. */
  arrivals(): Promise<readonly Arrival[]>
  /** Runs in a process of its own, which an abort ends. Rejects with that process's error output. */
  audit(signal: AbortSignal): Promise<Audit>
}
