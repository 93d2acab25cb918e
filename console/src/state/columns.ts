// Which columns of each table are shown: kept in this browser under the table's name, and with the account.

import { markChanged } from './kept.ts'

/** By column id; those that are left out have their default. */
export type ColumnChoice = Readonly<Record<string, boolean>>
type Choices = Readonly<Record<string, ColumnChoice>>

const storageKey = 'tollgate.columns'
const none: ColumnChoice = {}
let choices: Choices = load()
const listeners = new Set<() => void>()

function load(): Choices {
  try {
    return JSON.parse(localStorage.getItem(storageKey) ?? '{}')
  } catch {
    return {}
  }
}

export function columnChoices(): Choices {
  return choices
}

export function columnChoice(table: string): ColumnChoice {
  return choices[table] ?? none
}

export function chooseColumns(table: string, choice: ColumnChoice): void {
  applyColumns({ ...choices, [table]: choice })
  markChanged()
}

/** As stored with the account. */
export function applyColumns(next: Choices): void {
  choices = next
  try {
    localStorage.setItem(storageKey, JSON.stringify(choices))
  } catch {
    // Storage may be full or denied: the choice then lasts as long as the page.
  }
  for (const listener of listeners) listener()
}

export function onColumns(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

// Another tab of the same browser changed them.
addEventListener('storage', (event) => {
  if (event.key !== storageKey) return
  choices = load()
  for (const listener of listeners) listener()
})
