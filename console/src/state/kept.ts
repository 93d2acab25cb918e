// Whether the choices in this browser are also stored with the account: which account, and which changes are not stored
// yet.

interface Kept {
  /** The account of these choices; null: nobody has signed in here. */
  readonly account: string | null
  /** The version of the account's preferences that this browser last read. */
  readonly revision: number
  /** Something was chosen here that the account does not have yet. */
  readonly changed: boolean
}

const storageKey = 'tollgate.kept'
const nothing: Kept = { account: null, revision: 0, changed: false }
const listeners = new Set<() => void>()
/** If storage is denied, it lasts as long as the page. */
let inMemory: Kept = nothing

/** Read again each time, since another tab may have stored it meanwhile. */
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
    // Storage is full or denied.
  }
}

/** Called after each choice that is stored with the account. */
export function markChanged(): void {
  setKept({ ...kept(), changed: true })
  for (const listener of listeners) listener()
}

/** Returns a function that ends it. */
export function onChanged(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
