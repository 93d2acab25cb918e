// Decides how a request's messages are stored: as its key or account wishes, within what the operator allows.

import type { HistoryMode, HistorySettings } from '../config/types.ts'
import type { HistorySetting } from '../store/history-settings.ts'

export interface HistoryPolicy {
  readonly mode: Exclude<HistoryMode, 'off'>
  /** How long messages are stored. */
  readonly keepMs: number
  /** Key to which bodies are sealed in the mode `sealed`. */
  readonly publicKey: string | null
}

/** The operator's limits and default. */
interface HistoryRules extends Pick<HistorySettings, 'maxMode' | 'maxDays'> {
  /** Retention for accounts that have not chosen one. */
  readonly keepDays: number
}

const dayMs = 86_400_000
/** From the mode that stores least to the mode that stores most. */
const rank: Readonly<Record<HistoryMode, number>> = { off: 0, metadata: 1, sealed: 2, full: 3 }

/** null: nothing is stored. */
export function policyOf(
  wanted: HistoryMode,
  setting: Pick<HistorySetting, 'retentionDays' | 'publicKey'> | undefined,
  rules: HistoryRules,
): HistoryPolicy | null {
  const mode = isWithin(wanted, rules.maxMode) ? wanted : rules.maxMode
  if (mode === 'off') return null
  const publicKey = setting?.publicKey ?? null
  return {
    // If a body cannot be sealed, it is not stored unsealed instead.
    mode: mode === 'sealed' && publicKey === null ? 'metadata' : mode,
    keepMs: keepMsOf(setting?.retentionDays ?? null, rules),
    publicKey,
  }
}

/** Whether `mode` stores no more than `most`. */
export function isWithin(mode: HistoryMode, most: HistoryMode): boolean {
  return rank[mode] <= rank[most]
}

/** `ownDays`: retention that the account has chosen. */
function keepMsOf(
  ownDays: number | null,
  { keepDays, maxDays }: Omit<HistoryRules, 'maxMode'>,
): number {
  return Math.min(ownDays ?? keepDays, maxDays) * dayMs
}
