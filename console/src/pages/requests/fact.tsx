// One named value among the facts of a request.

import type { ReactNode } from 'react'

export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-label text-text-2">{name}</dt>
      <dd className="break-words [&_time]:whitespace-normal">{children}</dd>
    </div>
  )
}
