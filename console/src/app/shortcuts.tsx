// The list of keyboard shortcuts, shown by `?`.

import { Trans, useLingui } from '@lingui/react/macro'
import { Dialog } from '../ui/dialog.tsx'
import { operatorPages, userPages } from './navigation.ts'

export default function Shortcuts({
  operator,
  onClose,
}: {
  readonly operator: boolean
  readonly onClose: () => void
}) {
  const { t } = useLingui()
  const pages = [...userPages, ...(operator ? operatorPages : [])]
  const rows: readonly (readonly [string, string])[] = [
    ['Ctrl K / ⌘ K', t`Search or paste an id`],
    ['/', t`To the filters`],
    ['J / K', t`Next or previous row while one is open`],
    ['Esc', t`Close what is open`],
    ['?', t`This list`],
    ...pages.flatMap(({ shortcut, label }) =>
      shortcut === undefined ? [] : [[`g ${shortcut}`, t(label)] as const],
    ),
  ]
  return (
    <Dialog title={<Trans>Keyboard shortcuts</Trans>} onClose={onClose}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2">
        {rows.map(([keys, meaning]) => (
          <div key={keys} className="contents">
            <dt>
              <kbd className="rounded border border-border bg-sunken px-1.5 font-mono text-code">
                {keys}
              </kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
