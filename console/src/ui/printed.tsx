// What a filter is set to, on paper: its button is left out there, and may shorten the choice.

import type { ReactNode } from 'react'

interface PrintedProps {
  readonly label: ReactNode
  readonly children: ReactNode
}

export function Printed({ label, children }: PrintedProps) {
  return (
    <p className="hidden wrap-anywhere print:block" data-printed>
      {label}: {children}
    </p>
  )
}
