// The layout of every page: title row, filter bar, content.

import { useLingui } from '@lingui/react/macro'
import { type ReactNode, type RefObject, useEffect, useRef } from 'react'
import { useAccount } from '../app/account-scope.tsx'
import { Printed } from './printed.tsx'

interface PageProps {
  readonly title: ReactNode
  /** One line that says what the page is for. */
  readonly purpose?: ReactNode
  /** The one primary action, and others. */
  readonly actions?: ReactNode
  /** Sticky below the header; not on a phone, where they take the place of what they filter. */
  readonly filters?: ReactNode
  readonly children: ReactNode
}

/** The browser tab gets the name of the heading that has this. */
export function useTitle(): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    const name = heading.current?.textContent
    document.title = name ? `${name} · Tollgate` : 'Tollgate'
  })
  return heading
}

export function Page({ title, purpose, actions, filters, children }: PageProps) {
  const { t } = useLingui()
  const heading = useTitle()
  const account = useAccount()
  return (
    <main
      id="content"
      tabIndex={-1}
      className="mx-auto w-full max-w-[1280px] px-4 min-[1800px]:max-w-[1440px] pt-5 pb-12 outline-none md:px-6"
    >
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        {/* A long purpose takes a second line before the actions do. */}
        <div className="min-w-0 md:flex-1 md:basis-80">
          <h1 ref={heading} className="text-title wrap-anywhere">
            {title}
          </h1>
          {purpose !== undefined && (
            <p className="mt-0.5 max-w-[72ch] wrap-anywhere text-text-2">{purpose}</p>
          )}
          {/* On screen the header shows it. */}
          {account !== undefined && <Printed label={t`Account`}>{account}</Printed>}
        </div>
        {actions !== undefined && (
          <div className="flex flex-wrap items-center gap-2">{actions}</div>
        )}
      </div>
      {filters !== undefined && (
        <div className="-mx-4 mt-4 border-b border-border bg-bg px-4 py-2 md:sticky md:top-12 md:z-20 md:-mx-6 md:px-6 print:static print:[&_button]:hidden">
          {filters}
        </div>
      )}
      <div className="mt-4 flex flex-col gap-6">{children}</div>
    </main>
  )
}

interface CardProps {
  readonly title?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
  /** Without padding: for a table that fills it. */
  readonly flush?: boolean
}

/** What stands in place of the table, while it loads or fails, begins where the title does. */
const flushed =
  'pt-3 [&>[role=alert]]:mx-4 [&>[role=alert]]:mb-4 [&>[role=status]]:px-4 [&>[role=status]]:pb-4'

export function Card({ title, actions, children, flush = false }: CardProps) {
  return (
    <section className="min-w-0 rounded-card border border-border bg-surface">
      {title !== undefined && (
        <header className="flex flex-wrap items-center justify-between gap-2 px-4 pt-3">
          <h2 className="text-section">{title}</h2>
          {actions}
        </header>
      )}
      <div className={flush ? flushed : 'p-4'}>{children}</div>
    </section>
  )
}
