// Has memory taken back after so many bytes of media: the runtime would let a multiple of what is in use gather first.

export interface Collector {
  /** Takes back all that nobody uses; nothing else runs meanwhile. */
  collect(): void
  /** Bytes of objects in use, without the buffers they hold. */
  liveBytes(): number
}

const leastBytes = 33_554_432
/** Collecting takes longer the more is in use: so much more may pass before it is done again. */
const bytesPerLiveByte = 4

export class Litter {
  private readonly collector: Collector
  private bytes = 0
  private bound = leastBytes

  constructor(collector: Collector) {
    this.collector = collector
  }

  /** Told of bytes that were read, written or relayed, and left a buffer behind. */
  readonly passed = (bytes: number): void => {
    this.bytes += bytes
    if (this.bytes < this.bound) return
    this.bytes = 0
    this.collector.collect()
    this.bound = Math.max(leastBytes, bytesPerLiveByte * this.collector.liveBytes())
  }
}
