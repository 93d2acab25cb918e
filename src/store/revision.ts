// Watches a number in the store that grows with every change of a table, whichever process made it.

interface RevisionWatchOptions {
  /** The number the caller's own copy was read at. */
  readonly known: number
  readonly read: () => Promise<number>
  /** Reads the table anew; resolves to the number it is now known at. Asked again where it rejects. */
  readonly reload: () => Promise<number>
  /** Called once per outage, at its first failed look. */
  readonly onError: (error: unknown) => void
  /** 500 unless a test says otherwise. */
  readonly pollMs?: number
  /** Once false, nobody looks until the watch is woken; left out, it never rests. */
  readonly busy?: () => boolean
}

export interface RevisionWatch {
  readonly closed: boolean
  /** Looks again, where it had come to rest: resolves when the copy is as new as the store. null: it is not at rest. */
  wake(): Promise<void> | null
  /** Looks now: resolves when the copy has what was changed before the call, or could not be read. */
  refresh(): Promise<void>
  close(): void
}

/** Looks every half second, the first time after that; does not keep the process alive. */
export function watchRevision(options: RevisionWatchOptions): RevisionWatch {
  const { busy = () => true } = options
  let { known } = options
  let closed = false
  let failing = false
  let resting = false
  let waking: Promise<void> | null = null
  let looking: Promise<void> | null = null
  let timer = arm()

  function arm() {
    return setTimeout(look, options.pollMs ?? 500).unref()
  }

  /** One at a time: an earlier one would put back what a later one has read. */
  function look(): Promise<void> {
    clearTimeout(timer)
    looking ??= read().finally(() => {
      looking = null
    })
    return looking
  }

  async function read(): Promise<void> {
    try {
      if ((await options.read()) !== known) known = await options.reload()
      failing = false
    } catch (error) {
      if (!failing && !closed) options.onError(error)
      failing = true
    }
    resting = !busy()
    if (!closed && !resting) timer = arm()
  }

  return {
    get closed() {
      return closed
    },
    wake() {
      if (!resting || closed) return waking
      resting = false
      waking = look().finally(() => {
        waking = null
      })
      return waking
    },
    async refresh() {
      // What is under way may have read before the change.
      await looking
      if (!closed) await look()
    },
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
