// Facts about a list of candidates, computed once and cached with the list, so that planning stays cheap with many.

import type { Candidate } from './route.ts'

/** Candidates of equal rank, among which one is drawn by weight. */
export interface Tier {
  readonly members: readonly Candidate[]
  /** Cumulative sums of the members' weights. */
  readonly sums: Float64Array
}

interface CandidateFacts {
  /** In order of rank. */
  readonly tiers: readonly Tier[]
  /** How many candidates belong to a channel with limits. */
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

/** Candidates of a rank without weights are equally likely. */
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
