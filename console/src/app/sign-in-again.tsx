// Shown when the session ended while a page was open, or a change needs a sign-in of just now: the page and typed text
// stay until somebody signs in again.

import { Trans } from '@lingui/react/macro'
import { type ReactNode, useEffect } from 'react'
import { signInAgain } from '../api/queries.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'

export function SignInAgain() {
  const check = () => void signInAgain()
  useEffect(() => {
    const look = () => void signInAgain()
    addEventListener('focus', look)
    return () => removeEventListener('focus', look)
  }, [])
  return (
    <InNewTab
      title={<Trans>Your session has ended</Trans>}
      href="/console/sign-in"
      onSignedIn={check}
    >
      <Trans>
        Sign in again and come back to this tab: the page and what you typed stay as they are.
      </Trans>
    </InNewTab>
  )
}

/** The session goes on; the change is made again by whoever asked for it. */
export function FreshSignIn({ onClose }: { readonly onClose: () => void }) {
  return (
    <InNewTab
      title={<Trans>Sign in again for this change</Trans>}
      href="/console/sign-in?again=yes"
      onSignedIn={onClose}
    >
      <Trans>
        Your sign-in is too long ago for this change. Sign in again, come back to this tab and save
        once more: the page and what you typed stay as they are.
      </Trans>
    </InNewTab>
  )
}

interface InNewTabProps {
  readonly title: ReactNode
  readonly href: string
  readonly onSignedIn: () => void
  readonly children: ReactNode
}

function InNewTab({ title, href, onSignedIn, children }: InNewTabProps) {
  return (
    <Dialog
      keep
      title={title}
      onClose={onSignedIn}
      footer={
        <>
          <Button onClick={onSignedIn}>
            <Trans>I have signed in</Trans>
          </Button>
          <a className={buttonClass('primary')} href={href} target="_blank" rel="noopener">
            <Trans>Sign in in a new tab</Trans>
          </a>
        </>
      }
    >
      <p>{children}</p>
    </Dialog>
  )
}
