// The widths of the window at which pages change: as narrow as a phone, where tables become cards and drawers pages;
// above that, the widths from which tables have more columns.

import { useSyncExternalStore } from 'react'

export const useIsPhone = createUse('(max-width: 767.98px)')
const useIsLandscape = createUse('(min-width: 1024px)')
const useIsDesktop = createUse('(min-width: 1280px)')
const useIsLarge = createUse('(min-width: 1440px)')
const useIsWide = createUse('(min-width: 1800px)')

/** Of a tablet held sideways, a desktop's window, larger ones, in CSS pixels. */
export type ColumnWidth = 1024 | 1280 | 1440 | 1800

/** The largest of the widths that the window has; 0: it is narrower than all. */
export function useColumnWidth(): ColumnWidth | 0 {
  const [isLandscape, isDesktop] = [useIsLandscape(), useIsDesktop()]
  const [isLarge, isWide] = [useIsLarge(), useIsWide()]
  if (isWide) return 1800
  if (isLarge) return 1440
  if (isDesktop) return 1280
  return isLandscape ? 1024 : 0
}

function createUse(condition: string): () => boolean {
  const query = matchMedia(condition)
  const subscribe = (listener: () => void) => {
    query.addEventListener('change', listener)
    return () => query.removeEventListener('change', listener)
  }
  return () => useSyncExternalStore(subscribe, () => query.matches)
}
