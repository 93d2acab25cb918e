// The widths of the window at which pages change: as narrow as a phone, where tables become cards and drawers pages; as
// wide as a tablet on its side, a desktop's window or a large screen, where tables have more columns.

import { useSyncExternalStore } from 'react'

export const useIsPhone = createUse('(max-width: 767.98px)')
export const useIsLandscape = createUse('(min-width: 1024px)')
export const useIsDesktop = createUse('(min-width: 1280px)')
export const useIsWide = createUse('(min-width: 1800px)')

function createUse(condition: string): () => boolean {
  const query = matchMedia(condition)
  const subscribe = (listener: () => void) => {
    query.addEventListener('change', listener)
    return () => query.removeEventListener('change', listener)
  }
  return () => useSyncExternalStore(subscribe, () => query.matches)
}
