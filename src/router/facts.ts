// What a list of candidates comes to, found once and kept with the list: planning must not cost more where many serve.

import type { Candidate } from './route.ts'

/** Candidates of one rank, which are drawn by weight. */
export interface Tier {
  readonly members: readonly Candidate[]
  /** Sums of the weights up to and with each member. */
  readonly sums: Float64Array
}

interface CandidateFacts {
  /** In the order of their ranks. */
  readonly tiers: readonly Tier[]
  /** How many have limits of their channel. */
  readonly limited: number
  /** Whether some channel changes parameters. */
  readonly changesParameters: boolean
}

const kept = new WeakMap<readonly Candidate[], CandidateFacts>()

export function factsOf(candidates: readonly Candidate[]): CandidateFacts {
  const known = kept.get(candidates)
  if (known !== undefined) return known
  const made = {
    tiers: tiersOf(candidates),
    limited: candidates.filter(({ limits }) => limits !== undefined).length,
    changesParameters: candidates.some(({ parameters }) => parameters !== undefined),
  }
  kept.set(candidates, made)
  return made
}

/** Weight 0 last, then lower `priority` first, then identity before translation. */
export function byRank(one: Candidate, other: Candidate): number {
  return (
    Number(one.weight <= 0) - Number(other.weight <= 0) ||
    one.priority - other.priority ||
    Number(other.identity) - Number(one.identity)
  )
}

/** Where all of a rank have no weight, each is as good as the next. */
export function weightOf({ weight }: Candidate): number {
  return weight > 0 ? weight : 1
}

function tiersOf(candidates: readonly Candidate[]): readonly Tier[] {
  const sorted = candidates.toSorted(byRank)
  const tiers: Tier[] = []
  for (let from = 0, to = 0; from < sorted.length; from = to) {
    const first = sorted[from]
    while (to < sorted.length && byRank(first as Candidate, sorted[to] as Candidate) === 0) to++
    const members = sorted.slice(from, to)
    const sums = new Float64Array(members.length)
    members.reduce((sum, member, at) => {
      sums[at] = sum + weightOf(member)
      return sum + weightOf(member)
    }, 0)
    tiers.push({ members, sums })
  }
  return tiers
}
