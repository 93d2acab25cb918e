// Asks before what was typed is left behind: for another channel, another page, or with the tab.

import { Trans, useLingui } from '@lingui/react/macro'
import { useBlocker } from '@tanstack/react-router'
import { Confirm } from '../../ui/dialog.tsx'

/** The parameter of the address that says which channel is open. */
function openIn(search: object): unknown {
  return 'open' in search ? search.open : undefined
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
        <Trans>The changes of this channel are not saved.</Trans>
      </p>
    </Confirm>
  )
}
