// How single values are shown everywhere: money, counts, durations, times, ids, states.

import { Trans, useLingui } from '@lingui/react/macro'
import { type ReactNode, useEffect, useState } from 'react'
import {
  briefMoney,
  briefTime,
  dateTime,
  duration,
  exactMoney,
  percent,
  providerAmount,
  relativeTime,
  shortCount,
  shortId,
  shortMoney,
  wholeCount,
} from '../format.ts'
import { useTimeZone } from '../state/preferences.ts'
import { Icon, type IconName } from './icon.tsx'

interface MoneyProps {
  /** Nano-units, as the API gives them. */
  readonly nano: string | bigint
  readonly currency: string
  /** Every digit, as on receipts. */
  readonly exact?: boolean
  /** A balance: rounded towards zero. */
  readonly down?: boolean
  /** A balance where there is little room: `$1.23 M`, also rounded towards zero. */
  readonly brief?: boolean
}

/** Rounded for reading; every digit on hover. */
export function Money({ nano, currency, exact = false, down = false, brief = false }: MoneyProps) {
  const { i18n } = useLingui()
  const whole = exactMoney(nano, currency, i18n.locale)
  function written() {
    if (exact) return whole
    if (brief) return briefMoney(nano, currency, i18n.locale)
    return shortMoney(nano, currency, i18n.locale, down)
  }
  return (
    <span className="tabular whitespace-nowrap" title={whole}>
      {written()}
    </span>
  )
}

/** What a payment provider asks or pays: `1,234.50 CNY`. */
export function ProviderMoney({
  amount,
  currency,
}: {
  /** In units, as the API gives it. */
  readonly amount: string
  readonly currency: string
}) {
  const { i18n } = useLingui()
  return (
    <span className="tabular whitespace-nowrap">
      {providerAmount(amount, i18n.locale)} {currency}
    </span>
  )
}

/** `12.4 K`; exact on hover. */
export function Count({
  value,
  pad = true,
}: {
  readonly value: number
  /** With the same decimals as the others of its column. */
  readonly pad?: boolean
}) {
  const { i18n } = useLingui()
  return (
    <span className="tabular whitespace-nowrap" title={wholeCount(value, i18n.locale)}>
      {shortCount(value, i18n.locale, pad)}
    </span>
  )
}

/** null: not known. */
export function Duration({ ms }: { readonly ms: number | null }) {
  const { i18n } = useLingui()
  if (ms === null) return <None />
  return <span className="tabular whitespace-nowrap">{duration(ms, i18n.locale, true)}</span>
}

export function Percent({ ratio }: { readonly ratio: number | null }) {
  const { i18n } = useLingui()
  if (ratio === null) return <None />
  return <span className="tabular whitespace-nowrap">{percent(ratio, i18n.locale, true)}</span>
}

/** There is no value; never a zero. */
export function None() {
  const { t } = useLingui()
  return (
    <span className="text-text-3" title={t`No value`}>
      –
    </span>
  )
}

/** `relative` (the absolute time on hover) or the other way about. Null: never. */
export function Time({
  at,
  relative = false,
  brief = false,
}: {
  readonly at: string | null
  readonly relative?: boolean
  /** In columns: the year only if it is not the present one. */
  readonly brief?: boolean
}) {
  const { i18n } = useLingui()
  const timeZone = useTimeZone()
  const nowMs = useNow(relative ? 30_000 : null)
  if (at === null) return <None />
  const absolute = dateTime(at, i18n.locale, timeZone)
  const ago = relativeTime(at, nowMs, i18n.locale, timeZone)
  const short = brief ? briefTime(at, nowMs, i18n.locale, timeZone) : absolute
  const others = [...(relative || short !== absolute ? [absolute] : []), ...(relative ? [] : [ago])]
  return (
    <time
      dateTime={at}
      title={`${others.join(' · ')} (${timeZone})`}
      className="tabular whitespace-nowrap"
    >
      {relative ? ago : short}
    </time>
  )
}

/**
 * The present, told again at every multiple of `everyMs` of the clock, so that a range which ends with this minute never
 * ends before now, and when a tab is seen again; null: once.
 */
export function useNow(everyMs: number | null): number {
  const [nowMs, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (everyMs === null) return
    let timer: ReturnType<typeof setTimeout>
    const tell = () => {
      clearTimeout(timer)
      const now = Date.now()
      setNow(now)
      timer = setTimeout(tell, everyMs - (now % everyMs))
    }
    tell()
    document.addEventListener('visibilitychange', tell)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', tell)
    }
  }, [everyMs])
  return nowMs
}

/** An id, shortened in the middle, with a button that copies all of it. */
export function Id({ value, whole = false }: { readonly value: string; readonly whole?: boolean }) {
  return (
    <span className="inline-flex items-center gap-1">
      {whole ? (
        <code className="font-mono text-code break-all">{value}</code>
      ) : (
        <ShortId value={value} />
      )}
      <Copy text={value} />
    </span>
  )
}

/** The whole id on hover. */
export function ShortId({ value }: { readonly value: string }) {
  return (
    <code className="font-mono text-code break-all" title={value}>
      {shortId(value)}
    </code>
  )
}

/** A small button that copies a text and says that it did. */
export function Copy({
  text,
  label,
  icon = 'copy',
}: {
  readonly text: string
  readonly label?: string
  readonly icon?: IconName
}) {
  const { t } = useLingui()
  const [outcome, setOutcome] = useState<'copied' | 'refused' | null>(null)
  useEffect(() => {
    if (outcome === null) return
    const timer = setTimeout(() => setOutcome(null), 2_000)
    return () => clearTimeout(timer)
  }, [outcome])
  const words = { copied: t`Copied`, refused: t`Not copied: the browser refuses it` }
  const icons = { copied: 'check', refused: 'close' } as const
  const said = outcome === null ? (label ?? t`Copy`) : words[outcome]
  return (
    <button
      type="button"
      aria-label={said}
      title={said}
      className={`inline-flex size-6 items-center justify-center rounded-control hover:bg-sunken hover:text-text ${outcome === 'refused' ? 'text-danger' : 'text-text-3'}`}
      onClick={(event) => {
        event.stopPropagation()
        void copyText(text).then((isDone) => setOutcome(isDone ? 'copied' : 'refused'))
      }}
    >
      <Icon name={outcome === null ? icon : icons[outcome]} size={14} />
    </button>
  )
}

/** Whether the clipboard has it now. */
export async function copyText(text: string): Promise<boolean> {
  // Browsers give it to secure pages only; a gateway on a plain address in a local network is none.
  if (navigator.clipboard === undefined) return copyBySelection(text)
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => copyBySelection(text),
  )
}

function copyBySelection(text: string): boolean {
  const focused = document.activeElement
  const area = document.createElement('textarea')
  area.value = text
  area.style.position = 'fixed'
  // Beside an open dialog nothing can be selected.
  const dialogs = [...document.querySelectorAll('dialog[open]')]
  const place = dialogs.at(-1) ?? document.body
  place.append(area)
  area.select()
  const isDone = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return isDone
}

const marks = {
  ok: { shape: '●', colour: 'text-success' },
  warning: { shape: '▲', colour: 'text-warning' },
  failed: { shape: '■', colour: 'text-danger' },
  pending: { shape: '◌', colour: 'text-text-3' },
  off: { shape: '○', colour: 'text-text-3' },
} as const

export type Tone = keyof typeof marks

/** A state: a mark whose shape differs as well as its colour, and a word. */
export function Status({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  const { shape, colour } = marks[tone]
  return (
    <span className="inline-flex max-w-full items-center gap-1.5 align-bottom whitespace-nowrap">
      <span aria-hidden="true" className={`text-[10px] leading-none ${colour}`}>
        {shape}
      </span>
      {children}
    </span>
  )
}

const tints = {
  neutral: 'bg-sunken text-text-2',
  success: 'bg-success-tint text-success',
  warning: 'bg-warning-tint text-warning',
  danger: 'bg-danger-tint text-danger',
  info: 'bg-info-tint text-accent',
} as const

export function Badge({
  tone = 'neutral',
  children,
}: {
  readonly tone?: keyof typeof tints
  readonly children: ReactNode
}) {
  return (
    <span
      className={`inline-flex items-center rounded px-1.5 text-label whitespace-nowrap ${tints[tone]}`}
    >
      {children}
    </span>
  )
}

/** A figure against the period before: `▲ 12.3 %`, with the figure before on hover. */
export function Delta({
  now,
  before,
  good = 'neither',
}: {
  readonly now: number
  readonly before: number | null
  /** Which direction is welcome. */
  readonly good?: 'up' | 'down' | 'neither'
}) {
  const { i18n, t } = useLingui()
  if (before === null || before === 0)
    return (
      <span className="text-text-3">
        {before === now ? <Trans>no change</Trans> : <Trans>no earlier data</Trans>}
      </span>
    )
  // To a tenth of a percent: what is less is no change.
  const ratio = Math.round(((now - before) / before) * 1_000) / 1_000
  if (ratio === 0)
    return (
      <span className="text-text-2">
        <Trans>no change</Trans>
      </span>
    )
  const isWelcome = good === 'neither' ? null : ratio > 0 === (good === 'up')
  const colour = isWelcome === null ? 'text-text-2' : isWelcome ? 'text-success' : 'text-danger'
  const change = percent(Math.abs(ratio), i18n.locale)
  const words = ratio > 0 ? t`up ${change}` : t`down ${change}`
  return (
    <span className={`tabular whitespace-nowrap ${colour}`} aria-label={words}>
      {ratio > 0 ? '▲ ' : '▼ '}
      {change}
    </span>
  )
}
