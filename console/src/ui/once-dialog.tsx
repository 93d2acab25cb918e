// A dialog that shows a secret for the only time: it closes only by its button, once its reader has saved it.

import { Trans, useLingui } from '@lingui/react/macro'
import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Checkbox } from './field.tsx'

interface OnceDialogProps {
  readonly title: ReactNode
  readonly onClose: () => void
  readonly children: ReactNode
  readonly wide?: boolean
  /** What has to be confirmed; left out: that it is saved. */
  readonly label?: string
}

export function OnceDialog({ title, onClose, children, wide = false, label }: OnceDialogProps) {
  const { t } = useLingui()
  const [isSaved, setSaved] = useState(false)
  return (
    <Dialog
      keep
      wide={wide}
      title={title}
      onClose={() => {
        if (isSaved) onClose()
      }}
      footer={
        <div className="flex w-full flex-wrap items-center justify-between gap-3">
          <Checkbox
            label={label ?? t`I saved it`}
            checked={isSaved}
            onChange={({ target }) => setSaved(target.checked)}
          />
          <Button variant="primary" disabled={!isSaved} onClick={onClose}>
            <Trans>Done</Trans>
          </Button>
        </div>
      }
    >
      {children}
    </Dialog>
  )
}
