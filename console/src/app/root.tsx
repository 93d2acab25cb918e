// The elements around every page: the notice that the gateway cannot be reached, and toasts.

import { Trans } from '@lingui/react/macro'
import { Outlet } from '@tanstack/react-router'
import { useSyncExternalStore } from 'react'
import { Toasts } from '../ui/toast.tsx'

function subscribe(listener: () => void): () => void {
  addEventListener('online', listener)
  addEventListener('offline', listener)
  return () => {
    removeEventListener('online', listener)
    removeEventListener('offline', listener)
  }
}

export function Root() {
  const isOnline = useSyncExternalStore(subscribe, () => navigator.onLine)
  return (
    <>
      {!isOnline && (
        <p
          role="status"
          className="sticky top-0 z-50 bg-warning-tint px-4 py-2 text-center text-warning"
        >
          <Trans>You are offline. What you typed is kept; figures may be old.</Trans>
        </p>
      )}
      <Outlet />
      <Toasts />
    </>
  )
}
