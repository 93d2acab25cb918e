// Text to copy into a file or a terminal, with its destination.

import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { Copy } from '../ui/values.tsx'

interface CodeBlockProps {
  /** null: a terminal. */
  readonly where: string | null
  /** What is copied. */
  readonly text: string
  /** Shown in place of the text, if less should be shown. */
  readonly shown?: ReactNode
}

export function CodeBlock({ where, text, shown }: CodeBlockProps) {
  const { t } = useLingui()
  return (
    <figure className="min-w-0 overflow-hidden rounded-card border border-border bg-sunken">
      <figcaption className="flex items-center justify-between gap-2 border-b border-border py-1 pr-1 pl-3 text-label text-text-2">
        <span className="min-w-0 truncate">{where ?? <Trans>Terminal</Trans>}</span>
        <Copy text={text} label={t`Copy this part`} />
      </figcaption>
      {/* It scrolls sideways, so the keyboard must reach it. */}
      <pre
        tabIndex={0}
        role="region"
        aria-label={where ?? t`Terminal`}
        className="overflow-x-auto p-3 font-mono text-code"
      >
        {shown ?? text}
      </pre>
    </figure>
  )
}
