// What is kept of whose requests: the wish of the key or its account, within what the operator allows.

import type { HistoryMode, HistorySettings } from '../config/types.ts'
import type { HistorySetting } from '../store/history-settings.ts'

export interface HistoryPolicy {
  readonly mode: Exclude<HistoryMode, 'off'>
  /** How long. */
  readonly keepMs: number
  /** What sealed bodies are sealed to. */
  readonly publicKey: string | null
}

/** What the operator says. */
interface HistoryRules extends Pick<HistorySettings, 'maxMode' | 'maxDays'> {
  /** Where the account has not chosen. */
  readonly keepDays: number
}

const dayMs = 86_400_000
/** From what keeps least to what keeps most. */
const rank: Readonly<Record<HistoryMode, number>> = { off: 0, metadata: 1, sealed: 2, full: 3 }

/** null: nothing is kept. */
export function policyOf(
  wanted: HistoryMode,
  setting: Pick<HistorySetting, 'retentionDays' | 'publicKey'> | undefined,
  rules: HistoryRules,
): HistoryPolicy | null {
  const mode = isWithin(wanted, rules.maxMode) ? wanted : rules.maxMode
  if (mode === 'off') return null
  const publicKey = setting?.publicKey ?? null
  return {
    // What cannot be sealed is not kept open instead.
    mode: mode === 'sealed' && publicKey === null ? 'metadata' : mode,
    keepMs: keepMsOf(setting?.retentionDays ?? null, rules),
    publicKey,
  }
}

/** Whether no more is kept than in `most`. */
export function isWithin(mode: HistoryMode, most: HistoryMode): boolean {
  return rank[mode] <= rank[most]
}

/** `ownDays`: what the account has chosen. */
function keepMsOf(
  ownDays: number | null,
  { keepDays, maxDays }: Omit<HistoryRules, 'maxMode'>,
): number {
  return Math.min(ownDays ?? keepDays, maxDays) * dayMs
}
