// The result of "open in playground": loaded, or why not.

import { Trans } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Failure } from '../../ui/state.tsx'
import type { NotKept } from './kept.ts'

interface KeptNoteProps {
  readonly outcome: NotKept | Error | { readonly leftOut: number }
}

export function KeptNote({ outcome }: KeptNoteProps) {
  if (outcome instanceof Error) return <Failure error={outcome} />
  if (typeof outcome === 'string') return <Note>{reasons[outcome]}</Note>
  if (outcome.leftOut === 0) return null
  return (
    <Note>
      <Trans>
        Pictures, sound and files of this request are not carried over: attach them again.
      </Trans>
    </Note>
  )
}

const reasons: Readonly<Record<NotKept, ReactNode>> = {
  'not-kept': (
    <Trans>
      No messages of this request were kept. What is kept is chosen in{' '}
      <Link to="/settings" search={{ tab: 'history' }} className="underline">
        Settings
      </Link>
      .
    </Trans>
  ),
  sealed: (
    <Trans>
      The messages of this request are sealed: open them in its drawer and copy them here.
    </Trans>
  ),
  withheld: <Trans>Only the account itself may read the messages of this request.</Trans>,
  'no-chat': <Trans>This request was not a chat: there is no conversation to continue.</Trans>,
}

export function Note({ children }: { readonly children: ReactNode }) {
  return (
    <p role="status" className="rounded-card border border-warning/50 bg-warning-tint p-3">
      {children}
    </p>
  )
}
