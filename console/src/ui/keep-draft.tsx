// Asks before typed text is discarded: by closing its drawer, opening another item, tab or page, or closing the window.

import { Trans, useLingui } from '@lingui/react/macro'
import { useBlocker } from '@tanstack/react-router'
import { createPortal } from 'react-dom'
import { Confirm } from './dialog.tsx'

interface KeepDraftProps {
  readonly isDirty: boolean
  /** The page shows the form in one of its tabs only. */
  readonly isInTab?: boolean
}

/** The open item, or that a new one is being made, as in the address; and the tab, if that matters. */
function openIn(search: object, isInTab: boolean): string {
  const isNew = 'dialog' in search && search.dialog === 'new'
  const tab = isInTab && 'tab' in search && search.tab
  return JSON.stringify([isNew, 'open' in search && search.open, tab])
}

export function KeepDraft({ isDirty, isInTab = false }: KeepDraftProps) {
  const { t } = useLingui()
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      isDirty &&
      (current.pathname !== next.pathname ||
        openIn(current.search, isInTab) !== openIn(next.search, isInTab)),
    enableBeforeUnload: isDirty,
    withResolver: true,
  })
  if (status !== 'blocked') return null
  // Browsers keep the events of a form within another one from the page's handlers: they would load the page again.
  return createPortal(
    <Confirm
      title={<Trans>Discard what you typed?</Trans>}
      action={t`Discard`}
      onConfirm={async () => proceed()}
      onClose={reset}
    >
      <p>
        <Trans>Your changes are not saved.</Trans>
      </p>
    </Confirm>,
    document.body,
  )
}
