// Keeps the latest requests that clients sent with mistakes, in memory of bounded size, whoever sends how many.

import type { Arrival } from '../store/arrivals.ts'

interface DoctorOptions {
  /** Exchange with the other processes; left out where there are none. */
  readonly others?: {
    tell(arrivals: readonly Arrival[]): Promise<void>
    /** Mistakes that other processes shared. */
    arrivals(): Promise<readonly Arrival[]>
  }
  /** Called once per outage. */
  readonly onError: (error: unknown) => void
  /** Calls back once after a time. The default timer does not keep the process alive. */
  readonly schedule?: (run: () => Promise<void>, delayMs: number) => void
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number
}

/** Most mistakes kept for one account, or for one address where the account is unknown. */
const mostOfOne = 30
const mostOwners = 200
const mostReported = 300
/** Most requests examined per second: diagnosing a refused request costs more than refusing it. */
const mostInSecond = 50
const mostOfAddress = 20
const reportMs = 500

export class Doctor {
  readonly #options: DoctorOptions
  /** Ordered by the latest mistake: the owner noted last stands last. */
  readonly #byOwner = new Map<string, Arrival[]>()
  readonly #inSecond = new Map<string, number>()
  #second = 0
  #seen = 0
  #reporting = false
  #failing = false

  constructor(options: DoctorOptions) {
    this.#options = options
  }

  /** Does not call `diagnose` where more mistakes arrive per second than are examined. */
  note(address: string | null, diagnose: () => Arrival): void {
    if (!this.#admits(address ?? '')) return
    const arrival = diagnose()
    const owner = arrival.account === null ? `@${arrival.address ?? ''}` : arrival.account
    const kept = this.#byOwner.get(owner) ?? []
    kept.push(arrival)
    if (kept.length > mostOfOne) kept.shift()
    this.#byOwner.delete(owner)
    this.#byOwner.set(owner, kept)
    const [oldest] = this.#byOwner.keys()
    if (this.#byOwner.size > mostOwners && oldest !== undefined) this.#byOwner.delete(oldest)
    this.#reportSoon()
  }

  /** The mistakes of this and other processes, newest first. */
  async list(): Promise<readonly Arrival[]> {
    const elsewhere = (await this.#options.others?.arrivals()) ?? []
    return [...this.#byOwner.values(), elsewhere].flat().sort(newestFirst)
  }

  #admits(address: string): boolean {
    const { now = () => performance.now() } = this.#options
    const second = Math.floor(now() / 1_000)
    if (second !== this.#second) {
      this.#second = second
      this.#seen = 0
      this.#inSecond.clear()
    }
    const own = this.#inSecond.get(address) ?? 0
    if (this.#seen >= mostInSecond || own >= mostOfAddress) return false
    this.#seen += 1
    this.#inSecond.set(address, own + 1)
    return true
  }

  /** Sends what gathers within `reportMs` to the other processes at once. */
  #reportSoon(): void {
    const { others, schedule = later } = this.#options
    if (others === undefined || this.#reporting) return
    this.#reporting = true
    schedule(async () => {
      this.#reporting = false
      try {
        const noted = [...this.#byOwner.values()].flat().sort(newestFirst)
        await others.tell(noted.slice(0, mostReported))
        this.#failing = false
      } catch (error) {
        if (!this.#failing) this.#options.onError(error)
        this.#failing = true
      }
    }, reportMs)
  }
}

function newestFirst(one: Arrival, other: Arrival): number {
  return other.at - one.at
}

function later(run: () => Promise<void>, delayMs: number): void {
  setTimeout(run, delayMs).unref()
}
