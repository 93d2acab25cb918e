// The factor by which a group multiplies a model's prices: that of the longest matching name or prefix, else its own.

import { isPattern } from '../config/beginnings.ts'
import type { GroupSettings } from '../config/types.ts'
import { multiplierPpm } from './rate.ts'

type Multiplied = Pick<GroupSettings, 'multiplier' | 'modelMultipliers'>

/** Returns a decimal such as `0.8`. */
export function multiplierOf(group: Multiplied, model: string): string {
  return rulesOf(group).find((rule) => fits(rule, model))?.multiplier ?? group.multiplier
}

/** The same in millionths, compiled for many requests. */
export function compileMultipliers(group: Multiplied): (model: string) => number {
  const ppm = multiplierPpm(group.multiplier)
  const rules = rulesOf(group).map((rule) => ({ ...rule, ppm: multiplierPpm(rule.multiplier) }))
  if (rules.length === 0) return () => ppm
  return (model) => rules.find((rule) => fits(rule, model))?.ppm ?? ppm
}

interface Rule {
  readonly beginning: string
  /** Longer names with this beginning match too. */
  readonly isOpen: boolean
  readonly multiplier: string
}

/** In order of precedence: longer patterns first, and the exact name before a pattern of equal length. */
function rulesOf({ modelMultipliers = {} }: Multiplied): readonly Rule[] {
  return Object.entries(modelMultipliers)
    .map(([pattern, multiplier]) => ({
      beginning: pattern.replace(/\*$/, ''),
      isOpen: isPattern(pattern),
      multiplier,
    }))
    .sort(
      (one, other) =>
        other.beginning.length - one.beginning.length || Number(one.isOpen) - Number(other.isOpen),
    )
}

function fits({ beginning, isOpen }: Rule, model: string): boolean {
  return isOpen ? model.startsWith(beginning) : model === beginning
}
