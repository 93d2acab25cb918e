// Buttons and links that look like them.

import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react'
import { Icon, type IconName } from './icon.tsx'

const variants = {
  primary: 'bg-primary text-on-primary border-primary hover:opacity-90',
  secondary: 'bg-surface text-text border-border-strong/50 hover:bg-sunken',
  quiet: 'bg-transparent text-text-2 border-transparent hover:bg-sunken hover:text-text',
  danger: 'bg-surface text-danger border-danger/50 hover:bg-danger-tint',
} as const

export type ButtonVariant = keyof typeof variants

const shape =
  'inline-flex min-h-8 items-center justify-center gap-1.5 rounded-control border px-3 text-body font-medium whitespace-nowrap select-none disabled:opacity-50 max-md:min-h-11'

/** For a link that looks like a button: `<Link className={buttonClass('primary')}>`. */
export function buttonClass(variant: ButtonVariant = 'secondary'): string {
  return `plain-link ${shape} ${variants[variant]}`
}

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly variant?: ButtonVariant
  readonly icon?: IconName
  /** The action is running: the label stays, and a second press does nothing. */
  readonly busy?: boolean
  readonly ref?: Ref<HTMLButtonElement>
}

export function Button(props: ButtonProps) {
  const { variant = 'secondary', icon, busy = false, className = '', children, ...rest } = props
  return (
    <button
      type="button"
      {...rest}
      aria-busy={busy || undefined}
      aria-disabled={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : rest.onClick}
      className={`${shape} ${variants[variant]} ${className}`}
    >
      {busy ? <Spinner /> : icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  )
}

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly icon: IconName
  /** Its action, for screen readers; shown on hover as well. */
  readonly label: string
}

export function IconButton({ icon, label, className = '', ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...rest}
      className={`inline-flex size-8 items-center justify-center rounded-control text-text-2 hover:bg-sunken hover:text-text disabled:opacity-50 max-md:size-11 ${className}`}
    >
      <Icon name={icon} />
    </button>
  )
}

/** Shows after 200 ms, so that a quick answer never flickers. */
export function Spinner() {
  return (
    <svg aria-hidden="true" className="size-4 animate-spin" fill="none" viewBox="0 0 16 16">
      <circle cx="8" cy="8" r="6" stroke="currentColor" strokeOpacity="0.25" strokeWidth="2" />
      <path d="M14 8a6 6 0 0 0-6-6" stroke="currentColor" strokeLinecap="round" strokeWidth="2" />
    </svg>
  )
}

/** Buttons that belong together, in one row that wraps. */
export function Buttons({ children }: { readonly children: ReactNode }) {
  return <div className="flex flex-wrap items-center gap-2">{children}</div>
}
