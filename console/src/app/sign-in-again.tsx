// Shown when the session ended while a page was open: the page and typed text stay until somebody signs in again.

import { Trans } from '@lingui/react/macro'
import { useEffect } from 'react'
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
    <Dialog
      keep
      title={<Trans>Your session has ended</Trans>}
      onClose={check}
      footer={
        <>
          <Button onClick={check}>
            <Trans>I have signed in</Trans>
          </Button>
          <a
            className={buttonClass('primary')}
            href="/console/sign-in"
            target="_blank"
            rel="noopener"
          >
            <Trans>Sign in in a new tab</Trans>
          </a>
        </>
      }
    >
      <p>
        <Trans>
          Sign in again and come back to this tab: the page and what you typed stay as they are.
        </Trans>
      </p>
    </Dialog>
  )
}
