// The accounts' history settings in memory, at most about a second behind the store.

import type { HistorySetting, HistorySettingTable } from '../store/history-settings.ts'
import { type RevisionWatch, watchRevision } from '../store/revision.ts'

interface Loaded {
  readonly revision: number
  readonly byAccount: ReadonlyMap<string, HistorySetting>
}

interface WatchOptions {
  /** Called once per outage, at its first failed read; the known settings stay in force. */
  readonly onError: (error: unknown) => void
  /** See `RevisionWatchOptions`. */
  readonly busy?: () => boolean
}

export class HistoryChoices {
  private readonly table: HistorySettingTable
  private loaded: Loaded

  private constructor(table: HistorySettingTable, loaded: Loaded) {
    this.table = table
    this.loaded = loaded
  }

  static async open(table: HistorySettingTable): Promise<HistoryChoices> {
    return new HistoryChoices(table, await load(table))
  }

  of(account: string): HistorySetting | undefined {
    return this.loaded.byAccount.get(account)
  }

  watch(options: WatchOptions): RevisionWatch {
    return watchRevision({
      ...options,
      known: this.loaded.revision,
      read: () => this.table.revision(),
      reload: async () => {
        this.loaded = await load(this.table)
        return this.loaded.revision
      },
    })
  }
}

async function load(table: HistorySettingTable): Promise<Loaded> {
  // In this order: a change in between makes the revision too old, and the next poll reads again.
  const revision = await table.revision()
  const all = await table.all()
  return { revision, byAccount: new Map(all.map((setting) => [setting.account, setting])) }
}
