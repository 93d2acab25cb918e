// Why there is no answer, or only a part of one, and what to do about it.

import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import type { Failure } from './chat.ts'

interface FailureNoteProps {
  readonly failure: Failure
  readonly onRetry?: (() => void) | undefined
}

export function FailureNote({ failure, onRetry }: FailureNoteProps) {
  const said = useWords(failure.code)
  return (
    <div role="alert" className="rounded-control border border-danger/40 bg-danger-tint p-2.5">
      <p>{said ?? failure.message}</p>
      {said !== undefined && failure.message !== '' && (
        <p className="mt-1 text-cell break-words text-text-2">{failure.message}</p>
      )}
      <p className="mt-1 font-mono text-code text-text-2">{failure.code}</p>
      {onRetry !== undefined && (
        <div className="mt-2">
          <Button icon="refresh" onClick={onRetry}>
            <Trans>Try again</Trans>
          </Button>
        </div>
      )}
    </div>
  )
}

/** undefined: there is nothing to add to the API's message. */
function useWords(code: string): ReactNode | undefined {
  const { t } = useLingui()
  switch (code) {
    case 'insufficient_quota':
      return (
        <Trans>
          There is not enough money for this request. See{' '}
          <Link to="/billing" className="underline">
            the balance
          </Link>{' '}
          and the limits of the Playground’s key.
        </Trans>
      )
    case 'model_not_found':
      return (
        <Trans>
          This group has no such model.{' '}
          <Link to="/models" className="underline">
            See those it has
          </Link>
          .
        </Trans>
      )
    case 'rate_limit_exceeded':
      return t`Too much at once. Wait a moment, then try again.`
    case 'invalid_api_key':
      return t`The Playground’s key was refused. Its account may be suspended.`
    case 'service_unavailable':
      return t`This model cannot be asked now: it has no price, or nothing serves it. Choose another, or try again later.`
    case 'cut':
      return t`The answer was cut off before its end. What came is charged.`
    case 'offline':
      return t`The gateway cannot be reached. Check your connection.`
    case 'unauthenticated':
      return t`You are no longer signed in.`
    case 'forbidden':
      return t`Your role does not allow this.`
    default:
      return undefined
  }
}
