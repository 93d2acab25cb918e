// A button with words that copies a text.

import { useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { showToast } from './toast.tsx'
import { copyText } from './values.tsx'

interface CopyButtonProps {
  readonly text: string
  readonly children: ReactNode
}

export function CopyButton({ text, children }: CopyButtonProps) {
  const { t } = useLingui()
  async function copy() {
    const isDone = await copyText(text)
    if (isDone) showToast({ text: t`Copied`, tone: 'info' })
    else showToast({ text: t`Not copied: the browser refuses it`, tone: 'danger' })
  }
  return (
    <Button icon="copy" onClick={() => void copy()}>
      {children}
    </Button>
  )
}
