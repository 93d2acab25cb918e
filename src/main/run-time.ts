// The settings that may change while this process runs, followed in the store.

import { type RunTimeSettings, settingsInForce } from '../config/run-time.ts'
import type { Config } from '../config/types.ts'
import { type RevisionWatch, watchRevision } from '../store/revision.ts'
import type { SettingTable } from '../store/settings.ts'

interface WatchOptions {
  readonly onError: (error: unknown) => void
  readonly busy: () => boolean
}

export class RunTime {
  #config: Config
  #set: Partial<RunTimeSettings> = {}
  #revision = 0
  #current: RunTimeSettings
  readonly #table: SettingTable

  private constructor(table: SettingTable, config: Config) {
    this.#table = table
    this.#config = config
    this.#current = settingsInForce(config, {})
  }

  static async open(table: SettingTable, config: Config): Promise<RunTime> {
    const settings = new RunTime(table, config)
    await settings.#read()
    return settings
  }

  /** The settings in force; to be called each time. */
  readonly current = (): RunTimeSettings => this.#current

  /** Called after a reload: the file takes precedence. */
  take(config: Config): void {
    this.#config = config
    this.#current = settingsInForce(config, this.#set)
  }

  /** Changes by other processes apply here within a second. */
  watch({ onError, busy }: WatchOptions): RevisionWatch {
    return watchRevision({
      known: this.#revision,
      read: () => this.#table.revision(),
      reload: () => this.#read(),
      onError,
      busy,
    })
  }

  async #read(): Promise<number> {
    // The revision is read first: after a change in between it is behind, and the next look reads again.
    this.#revision = await this.#table.revision()
    const rows = await this.#table.all()
    // Values were checked when they were set; a name that only a newer version knows is ignored.
    this.#set = Object.fromEntries(rows.map(({ name, value }) => [name, value]))
    this.take(this.#config)
    return this.#revision
  }
}
