// The frame of every page for signed-in people: sidebar, header, shortcuts; asks to sign in if nobody is.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { whenNotFresh } from '../api/client.ts'
import { isSignedOut, meQuery, roleOf, useMe, useSessionEnded } from '../api/queries.ts'
import { Spinner } from '../ui/button.tsx'
import { isTyping } from '../ui/dialog.tsx'
import { later } from '../ui/later.tsx'
import { useIsPhone } from '../ui/media.ts'
import { Failure } from '../ui/state.tsx'
import { Header } from './header.tsx'
import { useKeptPreferences } from './keep-preferences.ts'
import { operatorPages, userPages } from './navigation.ts'
import { Refused } from './refused.tsx'
import { Sidebar } from './sidebar.tsx'
import { FreshSignIn, SignInAgain } from './sign-in-again.tsx'
import { ViewingBanner } from './viewing-banner.tsx'

const Palette = later(() => import('./palette.tsx'))
const Shortcuts = later(() => import('./shortcuts.tsx'))

/** These pages say themselves if the operator has not made them public. */
const publicPages: ReadonlySet<string> = new Set(['/models', '/shared', '/status'])

function isOperatorPath(pathname: string): boolean {
  return pathname === '/admin' || pathname.startsWith('/admin/')
}

type Overlay = 'palette' | 'shortcuts' | null

export function Shell() {
  const { t } = useLingui()
  const me = useMe()
  const { operator } = roleOf(me)
  const [overlay, setOverlay] = useState<Overlay>(null)
  const [isMenuOpen, setMenuOpen] = useState(false)
  const isPhone = useIsPhone()
  const hasEnded = useSessionEnded()
  const [mustBeFresh, setMustBeFresh] = useState(false)
  useEffect(() => whenNotFresh(() => setMustBeFresh(true)), [])
  const navigate = useNavigate()
  const { location } = useRouterState()
  const leaves = location.pathname === '/sign-in'
  const isPublic = publicPages.has(location.pathname)
  const typed = useTypedBefore(overlay === 'palette')
  useShortcuts(operator, setOverlay)
  useKeptPreferences(me?.id)
  const mustSignIn = me === null && !isPublic
  useEffect(() => {
    // While that page loads, the present one is still shown.
    if (mustSignIn && !leaves)
      void navigate({ to: '/sign-in', search: { 'return-to': location.href }, replace: true })
  }, [mustSignIn, leaves, navigate, location.href])
  useEffect(() => setMenuOpen(false), [location.pathname])
  if (mustSignIn || (me === undefined && !isPublic)) return <Waiting />
  return (
    <div className="flex min-h-dvh">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-control focus:bg-surface focus:p-2"
      >
        <Trans>Skip to the content</Trans>
      </a>
      <Sidebar operator={operator} isOpen={isMenuOpen} onClose={() => setMenuOpen(false)} />
      <div className="flex min-w-0 flex-1 flex-col" inert={isMenuOpen && isPhone}>
        <ViewingBanner />
        <Header
          person={me ?? null}
          onMenu={() => setMenuOpen(true)}
          onSearch={() => setOverlay('palette')}
        />
        {isOperatorPath(location.pathname) && !operator ? <Refused /> : <Outlet />}
      </div>
      {overlay === 'palette' && (
        <Palette operator={operator} typed={typed} onClose={() => setOverlay(null)} />
      )}
      {overlay === 'shortcuts' && (
        <Shortcuts operator={operator} onClose={() => setOverlay(null)} />
      )}
      {hasEnded && <SignInAgain />}
      {mustBeFresh && <FreshSignIn onClose={() => setMustBeFresh(false)} />}
      <span className="sr-only" aria-live="polite">
        {isMenuOpen ? t`Menu open` : ''}
      </span>
    </div>
  )
}

/** Until it is known who is signed in, or why that is unknown. */
function Waiting() {
  const { error, refetch } = useQuery(meQuery)
  if (error !== null && !isSignedOut(error))
    return (
      <main className="mx-auto flex min-h-dvh max-w-lg flex-col justify-center gap-3 p-4">
        <ViewingBanner />
        <h1 className="text-title">
          <Trans>The console cannot reach the gateway</Trans>
        </h1>
        <Failure error={error} retry={() => void refetch()} />
      </main>
    )
  return (
    <div role="status" className="flex min-h-dvh items-center justify-center gap-2 text-text-2">
      <Spinner />
      <Trans>Loading the console</Trans>
    </div>
  )
}

/** Keys pressed while the palette is still loading are typed into it, and trigger no shortcut. */
function useTypedBefore(isOpen: boolean): () => string {
  const typed = useRef('')
  useLayoutEffect(() => {
    if (!isOpen) return
    typed.current = ''
    function press(event: KeyboardEvent) {
      if (event.metaKey || event.ctrlKey || event.altKey) return
      if (document.querySelector('dialog[open]') !== null) return
      if (event.key === 'Backspace') typed.current = typed.current.slice(0, -1)
      else if (event.key.length === 1) typed.current += event.key
      else return
      event.preventDefault()
      event.stopImmediatePropagation()
    }
    window.addEventListener('keydown', press, true)
    return () => window.removeEventListener('keydown', press, true)
  }, [isOpen])
  return useCallback(() => typed.current, [])
}

/** `g` and a letter goes to a page, `?` lists the shortcuts, Ctrl or Cmd and K opens the palette, `/` goes to the filter. */
function useShortcuts(operator: boolean, open: (overlay: Overlay) => void): void {
  const navigate = useNavigate()
  useEffect(() => {
    let awaitsPage = false
    const pages = [...userPages, ...(operator ? operatorPages : [])]
    function press(event: KeyboardEvent) {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        return open('palette')
      }
      if (isTyping(event.target) || event.metaKey || event.ctrlKey || event.altKey) return
      if (document.querySelector('dialog[open]') !== null) return
      const page = awaitsPage ? pages.find(({ shortcut }) => shortcut === event.key) : undefined
      awaitsPage = event.key === 'g' && !awaitsPage
      if (page !== undefined) {
        event.preventDefault()
        void navigate({ to: page.to })
      } else if (event.key === '?') {
        open('shortcuts')
      } else if (event.key === '/') {
        event.preventDefault()
        document.querySelector<HTMLElement>('[data-filter] input, [data-filter] button')?.focus()
      }
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [operator, open, navigate])
}
