// The configuration of this process: the file's, with what was made at run time, followed in the store.

import { withStored } from '../admin/with-stored.ts'
import type { Config } from '../config/types.ts'
import type { SecretBox } from '../identity/secret-box.ts'
import type { ConfigurationTable, StoredItem } from '../store/configuration.ts'
import { type RevisionWatch, watchRevision } from '../store/revision.ts'
import type { Log } from '../telemetry/log.ts'

interface WatchOptions {
  /** Called to replace the configuration in force by `current`. */
  readonly onChange: () => Promise<void>
  readonly onError: (error: unknown) => void
  readonly busy: () => boolean
}

export class StoredConfiguration {
  /** The file's configuration. */
  declared: Config
  /** The file's configuration with the store's items. */
  current: Config
  #items: readonly StoredItem[] = []
  #revision = 0
  readonly #table: ConfigurationTable
  /** Encrypts and decrypts the secrets of stored items. */
  readonly box: SecretBox
  readonly #log: Log

  private constructor(table: ConfigurationTable, declared: Config, box: SecretBox, log: Log) {
    this.#table = table
    this.declared = declared
    this.current = declared
    this.box = box
    this.#log = log
  }

  static async open(
    table: ConfigurationTable,
    declared: Config,
    box: SecretBox,
    log: Log,
  ): Promise<StoredConfiguration> {
    const stored = new StoredConfiguration(table, declared, box, log)
    await stored.#read()
    return stored
  }

  /** Called after a reload of the file, which takes precedence over the store. */
  take(declared: Config): Config {
    const before = JSON.stringify(this.current.leftOut)
    this.declared = declared
    this.current = withStored(declared, this.#items, this.box)
    const { leftOut } = this.current
    if (leftOut.length > 0 && JSON.stringify(leftOut) !== before) {
      this.#log.error({ leftOut }, 'what the store has of the configuration does not all fit')
    }
    return this.current
  }

  /** Changes by other processes apply here within a second. */
  watch({ onChange, onError, busy }: WatchOptions): RevisionWatch {
    return watchRevision({
      known: this.#revision,
      read: () => this.#table.revision(),
      reload: async () => {
        const revision = await this.#read()
        await onChange()
        return revision
      },
      onError,
      busy,
    })
  }

  async #read(): Promise<number> {
    // The revision is read first: after a change in between it is behind, and the next look reads again.
    this.#revision = await this.#table.revision()
    this.#items = await this.#table.all()
    this.take(this.declared)
    return this.#revision
  }
}
