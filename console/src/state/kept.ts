// Whether what was chosen in this browser is kept with the account too: of which account, and since when it is not.

interface Kept {
  /** Whose choices these are; null: nobody has signed in here. */
  readonly account: string | null
  /** Of the account's preferences, as this browser last had them. */
  readonly revision: number
  /** Something was chosen here that the account does not have yet. */
  readonly changed: boolean
}

const storageKey = 'tollgate.kept'
const nothing: Kept = { account: null, revision: 0, changed: false }
const listeners = new Set<() => void>()
/** Where storage is denied it lasts as long as the page. */
let inMemory: Kept = nothing

/** Read anew each time: another tab may have kept them meanwhile. */
export function kept(): Kept {
  try {
    return { ...nothing, ...JSON.parse(localStorage.getItem(storageKey) ?? '{}') }
  } catch {
    return inMemory
  }
}

export function setKept(next: Kept): void {
  inMemory = next
  try {
    localStorage.setItem(storageKey, JSON.stringify(next))
  } catch {
    // Full or denied.
  }
}

/** Called after each choice that goes with the account. */
export function markChanged(): void {
  setKept({ ...kept(), changed: true })
  for (const listener of listeners) listener()
}

/** Gives what ends it. */
export function onChanged(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
