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
  const copy = () => copyText(text).then(() => showToast({ text: t`Copied`, tone: 'info' }))
  return (
    <Button icon="copy" onClick={() => void copy()}>
      {children}
    </Button>
  )
}
