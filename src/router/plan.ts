// Decides the order in which channels are tried: a pure function over a snapshot of health.

import { byRank, factsOf, type Tier, weightOf } from './facts.ts'
import { type Candidate, type Health, laneOf, type Plan } from './route.ts'

interface PlanOptions {
  readonly maxAttempts: number
}

type HealthView = Pick<Health, 'usable' | 'blocked' | 'waitMs'>

/** With more candidates than this, only the drawn ones are looked at. */
const fewCandidates = 16
/** How many draws may hit a candidate already drawn or unusable before all are looked at. */
const mostMisses = 32

const nobody: Plan = Object.freeze({ attempts: Object.freeze([]), blocked: null })

/**
 * Orders candidates: lower `priority` first, identity before translation at equal priority, then at random by weight.
 * Weight 0 comes last, as a last resort. Unusable ones are left out, but at most half of the candidates because of
 * their breaker, so that a short failure of a vendor does not leave a model without channels: those with the shortest
 * wait come at the end. `random` returns [0, 1).
 */
export function plan(
  candidates: readonly Candidate[],
  health: HealthView,
  nowMs: number,
  random: () => number,
  { maxAttempts }: PlanOptions,
): Plan {
  if (candidates.length === 0 || maxAttempts < 1) return nobody
  const only = candidates[0]
  if (candidates.length === 1 && only && health.usable(laneOf(only), only.model, nowMs))
    return { attempts: candidates, blocked: null }
  const first = drawn(candidates, health, nowMs, random, maxAttempts)
  if (first.length === maxAttempts) return { attempts: first, blocked: null }
  const usable: Candidate[] = []
  const open: Candidate[] = []
  let limited = 0
  let refused = 0
  for (const candidate of candidates) {
    if (first.includes(candidate)) continue
    const { model } = candidate
    const lane = laneOf(candidate)
    if (health.usable(lane, model, nowMs)) {
      usable.push(candidate)
      continue
    }
    const block = health.blocked(lane, model, nowMs)
    if (block === 'breaker') open.push(candidate)
    else if (block === 'rate_limited' || block === 'busy') limited += 1
    else refused += 1
  }
  const shut = Math.floor(candidates.length / 2)
  const attempts = [...first, ...ordered(usable, random)]
  if (open.length > shut) attempts.push(...soonest(open, health, nowMs, open.length - shut))
  if (attempts.length > maxAttempts) attempts.length = maxAttempts
  if (attempts.length > 0) return { attempts, blocked: null }
  const all = candidates.length
  const why = limited === all ? 'rate_limited' : refused === all ? 'operator' : 'failing'
  return { attempts, blocked: { why, retryAfterMs: shortestWait(candidates, health, nowMs) } }
}

function shortestWait(candidates: readonly Candidate[], health: HealthView, nowMs: number): number {
  return Math.min(
    ...candidates.map((candidate) => health.waitMs(laneOf(candidate), candidate.model, nowMs)),
  )
}

function soonest(
  open: readonly Candidate[],
  health: HealthView,
  nowMs: number,
  count: number,
): readonly Candidate[] {
  const waits = open.map((candidate) => ({
    candidate,
    waitMs: health.waitMs(laneOf(candidate), candidate.model, nowMs),
  }))
  waits.sort((a, b) => a.waitMs - b.waitMs)
  return waits.slice(0, count).map(({ candidate }) => candidate)
}

/**
 * Draws the first candidates in order of rank, each in proportion to weight among the rest of its rank: draws again
 * where one is unusable or already drawn. Returns fewer than `most` where that takes too many draws.
 */
function drawn(
  candidates: readonly Candidate[],
  health: HealthView,
  nowMs: number,
  random: () => number,
  most: number,
): readonly Candidate[] {
  if (candidates.length <= fewCandidates || most > fewCandidates) return []
  const places: Candidate[] = []
  let misses = 0
  for (const tier of factsOf(candidates).tiers) {
    const until = Math.min(most, places.length + tier.members.length)
    while (places.length < until) {
      const one = pick(tier, random)
      const isFree = one !== undefined && !places.includes(one)
      if (isFree && health.usable(laneOf(one), one.model, nowMs)) places.push(one)
      else if (++misses > mostMisses) return places
    }
    if (places.length === most) break
  }
  return places
}

function pick({ members, sums }: Tier, random: () => number): Candidate | undefined {
  const at = random() * (sums.at(-1) ?? 0)
  let [low, high] = [0, sums.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sums[middle] ?? 0) > at) high = middle
    else low = middle + 1
  }
  return members[low]
}

/**
 * Random order by weight, from sorting on -ln(u)/weight (Efraimidis and Spirakis, "Weighted random sampling with a
 * reservoir", 2006): each next place goes to one of the rest in proportion to weight.
 */
function ordered(candidates: readonly Candidate[], random: () => number): Candidate[] {
  if (candidates.length < 2) return [...candidates]
  const draws = candidates.map((candidate) => ({
    candidate,
    draw: -Math.log(1 - random()) / weightOf(candidate),
  }))
  draws.sort((a, b) => byRank(a.candidate, b.candidate) || a.draw - b.draw)
  return draws.map(({ candidate }) => candidate)
}
