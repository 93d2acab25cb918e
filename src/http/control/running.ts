// What routes ask of the process that runs: what it offers at the moment, and which settings count.

import type { Offer } from '../../admin/offer.ts'
import type { RunTimeSettings } from '../../config/run-time.ts'

export interface Running {
  offer(): Promise<Offer>
  settings(): RunTimeSettings
}
