// Estimates the usual length of a caller's streams on one model: a length that 95 % of them do not exceed.

/** The lowest estimate, so that short streams need no extension of their hold. */
const leastTokens = 1_024

/** Upper edges of the classes of lengths: each is half an octave above the last, up to a million tokens. */
const edges: readonly number[] = Array.from({ length: 21 }, (_, at) =>
  Math.round(leastTokens * 2 ** (at / 2)),
)

/** After this many lengths all counts are halved, so that old lengths lose weight. */
const memory = 512

/** The most models remembered for one caller; beyond it the oldest is forgotten. */
const maxModels = 64

export interface OutputEstimates {
  /** The output tokens that 95 of 100 replies did not exceed; 1024 at least, also where there were none. */
  usual(principal: object, model: string): number
  /** Records the output tokens of a finished reply. */
  note(principal: object, model: string, outputTokens: number): void
}

/** Estimates are keyed by the caller's object and are freed with it. */
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

  /** The lowest edge that at most one in twenty exceeded. */
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

/** The first class whose edge is at least `tokens`; the last has no upper bound. */
function classOf(tokens: number): number {
  if (!(tokens > leastTokens)) return 0
  return Math.min(edges.length - 1, Math.ceil(2 * Math.log2(tokens / leastTokens)))
}
