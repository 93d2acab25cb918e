// What a group multiplies the prices of a model by: by the longest name or beginning that fits, else by its own.

import { isPattern } from '../config/beginnings.ts'
import type { GroupSettings } from '../config/types.ts'
import { multiplierPpm } from './rate.ts'

type Multiplied = Pick<GroupSettings, 'multiplier' | 'modelMultipliers'>

/** `0.8`. */
export function multiplierOf(group: Multiplied, model: string): string {
  return rulesOf(group).find((rule) => fits(rule, model))?.multiplier ?? group.multiplier
}

/** The same in millionths, made ready for many requests. */
export function compileMultipliers(group: Multiplied): (model: string) => number {
  const ppm = multiplierPpm(group.multiplier)
  const rules = rulesOf(group).map((rule) => ({ ...rule, ppm: multiplierPpm(rule.multiplier) }))
  if (rules.length === 0) return () => ppm
  return (model) => rules.find((rule) => fits(rule, model))?.ppm ?? ppm
}

interface Rule {
  readonly beginning: string
  /** Names that go on behind it fit too. */
  readonly isOpen: boolean
  readonly multiplier: string
}

/** What counts first stands first: the longer, and of one length the whole name. */
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
