// Asks before typed text is discarded: by closing its drawer, opening another item or page, or closing the tab.

import { Trans, useLingui } from '@lingui/react/macro'
import { useBlocker } from '@tanstack/react-router'
import { Confirm } from './dialog.tsx'

/** The open item, or that a new one is being made, as in the address. */
function openIn(search: object): string {
  const isNew = 'dialog' in search && search.dialog === 'new'
  return JSON.stringify([isNew, 'open' in search && search.open])
}

export function KeepDraft({ isDirty }: { readonly isDirty: boolean }) {
  const { t } = useLingui()
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      isDirty &&
      (current.pathname !== next.pathname || openIn(current.search) !== openIn(next.search)),
    enableBeforeUnload: isDirty,
    withResolver: true,
  })
  if (status !== 'blocked') return null
  return (
    <Confirm
      title={<Trans>Discard what you typed?</Trans>}
      action={t`Discard`}
      onConfirm={async () => proceed()}
      onClose={reset}
    >
      <p>
        <Trans>Your changes are not saved.</Trans>
      </p>
    </Confirm>
  )
}
