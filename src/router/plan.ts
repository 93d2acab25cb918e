// The order in which channels are tried: pure, over a snapshot of health.

import { type Candidate, type Health, laneOf, type Plan } from './route.ts'

interface PlanOptions {
  readonly maxAttempts: number
}

type HealthView = Pick<Health, 'usable' | 'blocked' | 'waitMs'>

const nobody: Plan = Object.freeze({ attempts: Object.freeze([]), blocked: null })

/**
 * Orders candidates: lower `priority` first, identity before translation at equal priority, then at
 * random by weight. Weight 0 comes after everything else: a last resort. Unusable ones are left out;
 * but at most half of the candidates by their breaker, so that a vendor-wide hiccup does not leave
 * a model without channels: those with the shortest wait follow behind. `random` gives [0, 1).
 */
export function plan(
  candidates: readonly Candidate[],
  health: HealthView,
  nowMs: number,
  random: () => number,
  { maxAttempts }: PlanOptions,
): Plan {
  if (candidates.length === 0 || maxAttempts < 1) return nobody
  const usable: Candidate[] = []
  const open: Candidate[] = []
  let limited = 0
  let refused = 0
  for (const candidate of candidates) {
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
  const attempts = ordered(usable, random)
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
 * Weighted random order by sorting on -ln(u)/weight (Efraimidis and Spirakis, "Weighted random
 * sampling with a reservoir", 2006): each next place goes to one of the rest in proportion to weight.
 */
function ordered(candidates: readonly Candidate[], random: () => number): Candidate[] {
  if (candidates.length < 2) return [...candidates]
  const drawn = candidates.map((candidate) => {
    const draw = -Math.log(1 - random())
    return { candidate, draw: candidate.weight > 0 ? draw / candidate.weight : draw }
  })
  drawn.sort(
    (a, b) =>
      Number(a.candidate.weight <= 0) - Number(b.candidate.weight <= 0) ||
      a.candidate.priority - b.candidate.priority ||
      Number(b.candidate.identity) - Number(a.candidate.identity) ||
      a.draw - b.draw,
  )
  return drawn.map(({ candidate }) => candidate)
}
