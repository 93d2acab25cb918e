// Keeps the last requests that came with mistakes, in memory: bounded, however many come and whoever sends them.

import type { Arrival } from '../store/arrivals.ts'

interface DoctorOptions {
  /** Left out where there are no other processes. */
  readonly others?: {
    tell(arrivals: readonly Arrival[]): Promise<void>
    /** What they told. */
    arrivals(): Promise<readonly Arrival[]>
  }
  /** Called once per outage. */
  readonly onError: (error: unknown) => void
  /** Calls back once after a time; a timer that holds nothing up unless given. */
  readonly schedule?: (run: () => Promise<void>, delayMs: number) => void
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number
}

/** Of one account, or of one address where nobody knows whose they are. */
const mostOfOne = 30
const mostOwners = 200
const mostReported = 300
/** In each second: looking into a refused request costs more than refusing it. */
const mostInSecond = 50
const mostOfAddress = 20
const reportMs = 500

export class Doctor {
  readonly #options: DoctorOptions
  /** Those noted last stand last. */
  readonly #byOwner = new Map<string, Arrival[]>()
  readonly #inSecond = new Map<string, number>()
  #second = 0
  #seen = 0
  #reporting = false
  #failing = false

  constructor(options: DoctorOptions) {
    this.#options = options
  }

  /** `diagnose` is not called where too many come at once. */
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

  /** Those noted here and elsewhere, newest first. */
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

  /** What is noted meanwhile is told together. */
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
