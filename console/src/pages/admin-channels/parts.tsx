// Elements of the drawer: named sections, facts, notes.

import type { ReactNode } from 'react'

interface SectionProps {
  readonly title: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

export function Section({ title, actions, children }: SectionProps) {
  return (
    <section className="flex min-w-0 flex-col gap-2">
      <header className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="text-section">{title}</h3>
        {actions}
      </header>
      {children}
    </section>
  )
}

export function FactList({ children }: { readonly children: ReactNode }) {
  return <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5">{children}</dl>
}

export function Fact({
  label,
  children,
}: {
  readonly label: ReactNode
  readonly children: ReactNode
}) {
  return (
    <>
      <dt className="text-text-2">{label}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  )
}

const tints = {
  info: 'bg-info-tint',
  warning: 'bg-warning-tint',
  danger: 'bg-danger-tint',
} as const

export function Note({
  tone = 'info',
  children,
}: {
  readonly tone?: keyof typeof tints
  readonly children: ReactNode
}) {
  return <div className={`rounded-card p-3 ${tints[tone]}`}>{children}</div>
}
