// A person's preferences: language, theme, density, time zone. Stored in local storage, read by boot.js, and with the
// account.

import { useSyncExternalStore } from 'react'
import { markChanged } from './kept.ts'

export type Language = 'en' | 'zh-CN'

export interface Preferences {
  readonly language: Language | null
  readonly theme: 'system' | 'light' | 'dark'
  readonly density: 'comfortable' | 'compact'
  /** An IANA name; null: the browser's own. */
  readonly timeZone: string | null
  readonly sidebar: 'full' | 'rail'
}

const storageKey = 'tollgate.preferences'
const defaults: Preferences = {
  language: null,
  theme: 'system',
  density: 'comfortable',
  timeZone: null,
  sidebar: 'full',
}

let current = load()
const listeners = new Set<() => void>()

function load(): Preferences {
  try {
    return { ...defaults, ...JSON.parse(localStorage.getItem(storageKey) ?? '{}') }
  } catch {
    return defaults
  }
}

export function preferences(): Preferences {
  return current
}

/** The sidebar belongs to the browser: its width is not stored with the account. */
export function setPreferences(change: Partial<Preferences>): void {
  applyPreferences(change)
  if (Object.keys(change).some((name) => name !== 'sidebar')) markChanged()
}

/** As stored with the account. */
export function applyPreferences(change: Partial<Preferences>): void {
  current = { ...current, ...change }
  try {
    localStorage.setItem(storageKey, JSON.stringify(current))
  } catch {
    // Storage may be full or denied: the choice then lasts as long as the page.
  }
  show(current)
  for (const listener of listeners) listener()
}

function show({ theme, density }: Preferences): void {
  const { dataset } = document.documentElement
  if (theme === 'system') delete dataset['theme']
  else dataset['theme'] = theme
  if (density === 'compact') dataset['density'] = 'compact'
  else delete dataset['density']
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

// Another tab of the same browser changed them.
addEventListener('storage', (event) => {
  if (event.key !== storageKey) return
  current = load()
  show(current)
  for (const listener of listeners) listener()
})

export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, preferences)
}

/** Read once: reading takes longer than writing a time, and a table has hundreds of times. */
export const browserTimeZone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** The zone that times are shown in. */
export function useTimeZone(): string {
  return usePreferences().timeZone ?? browserTimeZone
}

/** The language of the page: the chosen one, else the browser's if the console supports it. */
export function languageOf({ language }: Preferences): Language {
  if (language !== null) return language
  return navigator.languages.some((name) => name.toLowerCase().startsWith('zh')) &&
    !navigator.languages[0]?.toLowerCase().startsWith('en')
    ? 'zh-CN'
    : 'en'
}
