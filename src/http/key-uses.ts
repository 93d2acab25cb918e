// Records when and from where each key was last used: apart from the requests, at most once a minute per key.

import type { Caller } from '../history/caller.ts'
import type { KeyUse } from '../store/keys.ts'

interface KeyUsesOptions {
  readonly write: (uses: readonly KeyUse[]) => Promise<void>
  /** Called once per outage. */
  readonly onError: (error: unknown) => void
  /** Calls back once after a time. The default timer does not keep the process alive. */
  readonly schedule?: (run: () => void, delayMs: number) => void
}

const everyMs = 60_000
/** Uses noted within this time are written together. */
const gatherMs = 1_000
/** Bounds the memory for keys noted; when it is full all are forgotten, which costs one more write for each. */
const mostKeys = 100_000

export class KeyUses {
  readonly #options: KeyUsesOptions
  readonly #notedAt = new Map<string, number>()
  #due: KeyUse[] = []
  #failing = false

  constructor(options: KeyUsesOptions) {
    this.#options = options
  }

  /** `at`: Unix milliseconds. */
  note(keyId: string, at: number, caller: Caller): void {
    const notedAt = this.#notedAt.get(keyId)
    if (notedAt !== undefined && at - notedAt < everyMs) return
    if (this.#notedAt.size >= mostKeys) this.#notedAt.clear()
    this.#notedAt.set(keyId, at)
    this.#due.push({ keyId, at, address: caller.address, client: clientOf(caller) })
    if (this.#due.length > 1) return
    const { schedule = later } = this.#options
    schedule(() => void this.flush(), gatherMs)
  }

  /** Writes the noted uses. A use that cannot be written is noted again with the key's next use. */
  async flush(): Promise<void> {
    const due = this.#due
    this.#due = []
    if (due.length === 0) return
    try {
      await this.#options.write(due)
      this.#failing = false
    } catch (error) {
      for (const { keyId } of due) this.#notedAt.delete(keyId)
      if (!this.#failing) this.#options.onError(error)
      this.#failing = true
    }
  }
}

function later(run: () => void, delayMs: number): void {
  setTimeout(run, delayMs).unref()
}

function clientOf({ client }: Caller): string | null {
  if (client === null) return null
  return client.version === null ? client.name : `${client.name} ${client.version}`
}
