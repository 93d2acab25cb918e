// Whether the window is as narrow as a phone, where tables become cards and drawers pages.

import { useSyncExternalStore } from 'react'

const phone = matchMedia('(max-width: 767.98px)')

function subscribe(listener: () => void): () => void {
  phone.addEventListener('change', listener)
  return () => phone.removeEventListener('change', listener)
}

export function useIsPhone(): boolean {
  return useSyncExternalStore(subscribe, () => phone.matches)
}
