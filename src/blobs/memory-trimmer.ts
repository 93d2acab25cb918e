// Has memory taken back while media pass: the runtime would let a multiple of what is in use gather first.

export interface Collector {
  /** Takes back all that nobody uses; nothing else runs meanwhile. */
  collect(): void
  /** Memory of the whole process. */
  residentBytes(): number
  /** Bytes of objects in use, without the buffers they hold. */
  liveBytes(): number
}

/** So often is looked. */
const stepBytes = 4_194_304
const leastGrowthBytes = 25_165_824
/** A process that is no larger is let be. */
const smallBytes = 157_286_400
/** Collecting takes longer the more is in use: so much more may gather before it is done again. */
const growthPerLiveByte = 4

export class MemoryTrimmer {
  private readonly collector: Collector
  private bytes = 0
  /** The process as it was when nothing could be taken back. */
  private leastBytes = Number.POSITIVE_INFINITY
  private growthBytes = leastGrowthBytes

  constructor(collector: Collector) {
    this.collector = collector
  }

  /** Told of bytes that were read, written or relayed, and left a buffer behind. */
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
