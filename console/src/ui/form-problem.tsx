// Why a form was not saved: a refusal, or that somebody else saved first, with how to continue.

import { Trans } from '@lingui/react/macro'
import { isSignedOut, useSessionEnded } from '../api/queries.ts'
import { Actor } from './actor.tsx'
import { Button, Buttons } from './button.tsx'
import { Failure } from './state.tsx'
import type { Newest } from './use-newest.ts'
import { Time } from './values.tsx'

interface FormProblemProps extends Author {
  /** A refusal that concerns no field. */
  readonly problem: Error | null
  readonly newest: Pick<Newest<unknown>, 'isStale' | 'takeOver' | 'discard'>
}

interface Author {
  /** Who made the newest state, and when; left out: the API does not tell. */
  readonly actor?: string | null
  readonly changedAt?: string | null
}

export function FormProblem({ problem, newest, ...author }: FormProblemProps) {
  const hasEnded = useSessionEnded()
  if (!newest.isStale) {
    // After signing in again nothing hinders the next attempt.
    if (problem === null || (isSignedOut(problem) && !hasEnded)) return null
    return <Failure error={problem} />
  }
  return (
    <div role="alert" className="flex flex-col gap-3 rounded-card bg-warning-tint p-3">
      <p>
        <Changed {...author} />
      </p>
      <Buttons>
        <Button onClick={newest.takeOver}>
          <Trans>Load the newest and keep my changes</Trans>
        </Button>
        <Button onClick={newest.discard}>
          <Trans>Load the newest without my changes</Trans>
        </Button>
      </Buttons>
    </div>
  )
}

function Changed({ actor = null, changedAt = null }: Author) {
  if (actor === null || changedAt === null)
    return <Trans>This was changed meanwhile. What you typed is not lost.</Trans>
  return (
    <Trans>
      <Actor actor={actor} /> changed this <Time relative at={changedAt} />. What you typed is not
      lost.
    </Trans>
  )
}
