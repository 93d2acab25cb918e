// The generic cell rate algorithm in integers: a meter that rises with use and drains at a constant rate.

/**
 * The use of one limit. `used` counts units of 1/60000 request (or token), so that a limit of N per minute drains N
 * units per millisecond and everything stays an integer. This is the algorithm of ITU-T I.371 in its "continuous-state
 * leaky bucket" form, with the whole minute's limit as burst: N at once, then one every 60000/N ms.
 */
export interface Meter {
  used: number
  /** The time in milliseconds at which `used` was computed. */
  at: number
}

export const unitsPerItem = 60_000

/** The wait for a limit of 0, which never admits: ask again in a minute. */
const neverMs = 60_000

/** Drains the meter up to `nowMs` and returns what is still in use. A negative use (credit) does not drain. */
export function level(meter: Meter, perMinute: number, nowMs: number): number {
  const elapsed = nowMs - meter.at
  if (elapsed > 0) {
    meter.at = nowMs
    if (meter.used > 0) meter.used = Math.max(0, meter.used - elapsed * perMinute)
  }
  return meter.used
}

/** The units that `items` take: at most the whole limit, or a large request could never pass. */
export function cost(items: number, perMinute: number): number {
  return Math.min(items, perMinute) * unitsPerItem
}

/** Milliseconds until `units` more fit on top of `used`; 0 when they fit now. */
export function waitMs(used: number, perMinute: number, units: number): number {
  if (perMinute <= 0) return neverMs
  return Math.max(0, Math.ceil((used + units - perMinute * unitsPerItem) / perMinute))
}

/** Whole items left of the limit. */
export function remaining(used: number, perMinute: number): number {
  return Math.max(0, Math.floor((perMinute * unitsPerItem - used) / unitsPerItem))
}

/** Milliseconds until nothing is in use. */
export function resetMs(used: number, perMinute: number): number {
  if (perMinute <= 0) return neverMs
  return Math.max(0, Math.ceil(used / perMinute))
}
