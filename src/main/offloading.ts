// How what leaves the database does, as this process last saw it: for metrics.

export interface Offloading {
  /** Unix milliseconds; null: it does not fail, or there is none. */
  archiveFailingSince: number | null
}

export function createOffloading(): Offloading {
  return { archiveFailingSince: null }
}
