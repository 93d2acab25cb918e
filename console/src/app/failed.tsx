// Shown in place of a page that could not be loaded or drawn; the rest of the console stays.

import { Trans } from '@lingui/react/macro'
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { useCallback, useEffect } from 'react'
import { recoverMs } from '../api/queries.ts'
import { Button } from '../ui/button.tsx'
import { useTitle } from '../ui/page.tsx'

const reloadedKey = 'tollgate.reloaded'

/**
 * Reloads at the same address if the gateway serves another build than the one in this tab, whose files may be gone; at
 * most once a minute, as servers behind one address may serve different builds for a while.
 */
async function reloadIfUpdated(): Promise<void> {
  const own = document.querySelector('script[type="module"][src]')?.getAttribute('src') ?? ''
  const reply = await fetch('/console/', { cache: 'no-cache' }).catch(() => null)
  if (reply?.ok !== true || (await reply.text()).includes(own)) return
  const last = Number(sessionStorage.getItem(reloadedKey) ?? 0)
  if (Date.now() - last < 60_000) return
  sessionStorage.setItem(reloadedKey, String(Date.now()))
  location.reload()
}

/** The browsers' messages for a page whose code did not load: it may load a moment later. */
const notLoaded = /import/i

export function RouteFailed({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const heading = useTitle()
  const again = useCallback(() => {
    reset()
    void router.invalidate()
  }, [reset, router])
  const isNotLoaded = notLoaded.test(String(error))
  useEffect(() => {
    addEventListener('online', again)
    const timer = isNotLoaded ? setTimeout(again, recoverMs) : undefined
    if (isNotLoaded) void reloadIfUpdated()
    return () => {
      removeEventListener('online', again)
      clearTimeout(timer)
    }
  }, [again, isNotLoaded])
  return (
    <div role="alert" className="mx-auto max-w-lg p-8 text-center">
      <h1 ref={heading} className="text-title">
        <Trans>This page could not be shown</Trans>
      </h1>
      <p className="mt-2 text-text-2">
        <Trans>
          The console may have been updated meanwhile, or the gateway cannot be reached. Your data
          is safe.
        </Trans>
      </p>
      <pre className="mt-4 overflow-x-auto rounded-card bg-sunken p-3 text-left font-mono text-code">
        {error instanceof Error ? error.message : String(error)}
      </pre>
      <div className="mt-4 flex justify-center gap-2">
        <Button variant="primary" onClick={again}>
          <Trans>Try again</Trans>
        </Button>
        <Button onClick={() => location.reload()}>
          <Trans>Reload the console</Trans>
        </Button>
      </div>
    </div>
  )
}
