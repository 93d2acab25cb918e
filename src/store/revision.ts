// Watches a revision number in the store that grows with every change of a table, whichever process made it.

interface RevisionWatchOptions {
  /** The revision at which the caller read its own copy. */
  readonly known: number
  readonly read: () => Promise<number>
  /** Reads the table again; resolves to the revision of the new copy. Retried if it rejects. */
  readonly reload: () => Promise<number>
  /** Called once per outage, at its first failed read. */
  readonly onError: (error: unknown) => void
  /** 500 by default. */
  readonly pollMs?: number
  /** When it returns false, polling stops before the next `wake`; if left out, polling never stops. */
  readonly busy?: () => boolean
}

export interface RevisionWatch {
  readonly closed: boolean
  /** Resumes polling: resolves when the copy is as new as the store. null if polling had not stopped. */
  wake(): Promise<void> | null
  /** Reads now: resolves when the copy has everything changed before the call, or could not be read. */
  refresh(): Promise<void>
  close(): void
}

/** Polls every half second, starting half a second from now; does not keep the process alive. */
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

  /** One read at a time: an earlier one would overwrite what a later one has read. */
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
      // A read that is under way may have begun before the change.
      await looking
      if (!closed) await look()
    },
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
