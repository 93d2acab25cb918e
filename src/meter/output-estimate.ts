// How long the streams of one caller on one model usually are: what all but one in twenty stay below.

/** Streams are never expected to be shorter, so that short ones need no extension of their hold. */
const leastTokens = 1_024

/** Edges of the classes that lengths are counted in: each half an octave above the last, to a million tokens. */
const edges: readonly number[] = Array.from({ length: 21 }, (_, at) =>
  Math.round(leastTokens * 2 ** (at / 2)),
)

/** At this many lengths all classes are halved, so that what was long ago counts for less and less. */
const memory = 512

/** Models remembered for one caller; past that the one remembered first is forgotten. */
const maxModels = 64

export interface OutputEstimates {
  /** Output tokens that 95 of 100 replies stayed within, at least 1024; 1024 where there were none. */
  usual(principal: object, model: string): number
  /** Counts a finished reply's output tokens. */
  note(principal: object, model: string, outputTokens: number): void
}

/** A caller's object is the key: with it what is known of it goes. */
export function createOutputEstimates(): OutputEstimates {
  const callers = new WeakMap<object, Map<string, Lengths>>()
  return {
    usual: (principal, model) => callers.get(principal)?.get(model)?.usual ?? leastTokens,
    note(principal, model, outputTokens) {
      let models = callers.get(principal)
      if (models === undefined) {
        models = new Map()
        callers.set(principal, models)
      }
      let lengths = models.get(model)
      if (lengths === undefined) {
        lengths = new Lengths()
        models.set(model, lengths)
        const [first] = models.keys()
        if (models.size > maxModels && first !== undefined) models.delete(first)
      }
      lengths.add(outputTokens)
    },
  }
}

class Lengths {
  usual = leastTokens
  private readonly counts = new Uint16Array(edges.length)
  private total = 0

  add(tokens: number): void {
    this.count(classOf(tokens))
    if (this.total >= memory) this.halve()
    this.usual = this.percentile()
  }

  private count(at: number): void {
    this.counts[at] = (this.counts[at] ?? 0) + 1
    this.total++
  }

  private halve(): void {
    this.total = 0
    for (let at = 0; at < this.counts.length; at++) {
      const half = (this.counts[at] ?? 0) >> 1
      this.counts[at] = half
      this.total += half
    }
  }

  /** The lowest edge that at most one in twenty was above. */
  private percentile(): number {
    const mayExceed = Math.floor(this.total / 20)
    let above = 0
    for (let at = edges.length - 1; at > 0; at--) {
      above += this.counts[at] ?? 0
      if (above > mayExceed) return edges[at] ?? leastTokens
    }
    return leastTokens
  }
}

/** The first class whose edge is at least `tokens`; the last takes all above it. */
function classOf(tokens: number): number {
  if (!(tokens > leastTokens)) return 0
  return Math.min(edges.length - 1, Math.ceil(2 * Math.log2(tokens / leastTokens)))
}
