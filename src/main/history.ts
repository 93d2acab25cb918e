// Message history of this process: the accounts' choices, the queue to the thread that writes, and the request hook.

import type { RunTimeSettings } from '../config/run-time.ts'
import type { Config, HistorySettings } from '../config/types.ts'
import { HistoryChoices } from '../history/choices.ts'
import { policyOf } from '../history/policy.ts'
import { createRecorder, type Recorder } from '../history/recorder.ts'
import { historyHook } from '../http/history.ts'
import type { Hook } from '../operations/operation.ts'
import { hasHistoryFile } from '../store/sqlite-history.ts'
import type { Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'

export interface HistoryParts {
  readonly choices: HistoryChoices
  readonly recorder: Recorder
  /** The settings in force. */
  readonly runTime: () => RunTimeSettings
  /** Applies changed settings. */
  configure(settings: HistorySettings): void
}

/** How often a failing disk is reported in the log, at most. */
const logEveryMs = 60_000

export async function openHistoryParts(
  { dataDir, databaseUrl, history }: Config,
  store: Store,
  log: Log,
  runTime: () => RunTimeSettings,
): Promise<HistoryParts> {
  let settings = history
  let loggedMs = Number.NEGATIVE_INFINITY
  const recorder = createRecorder({
    store: { dataDir, databaseUrl },
    settings: () => settings,
    async anyKept() {
      if (databaseUrl === null) return hasHistoryFile(dataDir)
      return (await store.history.list({ limit: 1 })).items.length > 0
    },
    onFailure(reason, lost) {
      if (performance.now() - loggedMs < logEveryMs) return
      loggedMs = performance.now()
      log.error({ reason, lost }, 'message history could not be written; requests are served on')
    },
  })
  return {
    choices: await HistoryChoices.open(store.historySettings),
    recorder,
    runTime,
    configure(next) {
      settings = next
    },
  }
}

export function historyHookOf({ history }: Config, parts: HistoryParts): Hook {
  const { choices, recorder, runTime } = parts
  return historyHook({
    recorder,
    settings: history,
    policyOf({ account, historyMode }) {
      const choice = choices.of(account)
      const usual = runTime()
      const wanted = historyMode ?? choice?.mode ?? usual['history.mode']
      if (wanted === 'off') return null
      return policyOf(wanted, choice, { ...history, keepDays: usual['history.keepDays'] })
    },
  })
}
