// Forces garbage collection while media pass: the runtime by itself would wait for a multiple of what is in use.

export interface Collector {
  /** Collects all garbage; nothing else runs meanwhile. */
  collect(): void
  /** Memory of the whole process. */
  residentBytes(): number
  /** Bytes of objects in use, without the buffers they hold. */
  liveBytes(): number
}

/** Bytes passed between two checks. */
const stepBytes = 4_194_304
const leastGrowthBytes = 25_165_824
/** Skip forced collection below 150 MiB. */
const smallBytes = 157_286_400
/** Collecting takes longer the more is in use: garbage may grow by this factor of it before the next. */
const growthPerLiveByte = 4

export class MemoryTrimmer {
  private readonly collector: Collector
  private bytes = 0
  /** Resident memory at its least since the last collection. */
  private leastBytes = Number.POSITIVE_INFINITY
  private growthBytes = leastGrowthBytes

  constructor(collector: Collector) {
    this.collector = collector
  }

  /** Called with the bytes that were read, written or relayed, and left a buffer behind. */
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
