// Forces garbage collection while media are transferred: the runtime alone would let memory grow to a multiple.

export interface Collector {
  /** Collects all garbage, blocking. */
  collect(): void
  /** Memory of the whole process. */
  residentBytes(): number
  /** Bytes of live objects, without the buffers they refer to. */
  liveBytes(): number
}

/** Transferred bytes between two checks. */
const stepBytes = 4_194_304
const leastGrowthBytes = 25_165_824
/** No collection is forced below 150 MiB. */
const smallBytes = 157_286_400
/** A collection takes longer the more is live: garbage may grow to this multiple of it before the next one. */
const growthPerLiveByte = 4

export class MemoryTrimmer {
  private readonly collector: Collector
  private bytes = 0
  /** The lowest resident memory since the last collection. */
  private leastBytes = Number.POSITIVE_INFINITY
  private growthBytes = leastGrowthBytes

  constructor(collector: Collector) {
    this.collector = collector
  }

  /** Called with the number of bytes that were read, written or relayed, and left a buffer behind. */
  readonly passed = (bytes: number): void => {
    this.bytes += bytes
    if (this.bytes < stepBytes) return
    this.bytes = 0
    const residentBytes = this.collector.residentBytes()
    this.leastBytes = Math.min(this.leastBytes, residentBytes)
    if (residentBytes < Math.max(smallBytes, this.leastBytes + this.growthBytes)) return
    this.collector.collect()
    this.leastBytes = this.collector.residentBytes()
    this.growthBytes = Math.max(leastGrowthBytes, growthPerLiveByte * this.collector.liveBytes())
  }
}
