// The list of pages: 232 px wide, icons alone on narrow or folded windows, a drawer on phones.

import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useFeatures } from '../api/queries.ts'
import { setPreferences, usePreferences } from '../state/preferences.ts'
import { IconButton } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { type NavigationItem, operatorPages, userPages } from './navigation.ts'

/** It opens the list of pages on phones, and has the focus again when that is closed. */
export const menuButtonId = 'menu-button'

interface SidebarProps {
  readonly operator: boolean
  /** On phones. */
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function Sidebar({ operator, isOpen, onClose }: SidebarProps) {
  const { t } = useLingui()
  const isRail = usePreferences().sidebar === 'rail'
  useEffect(() => {
    if (!isOpen) return
    const press = (event: KeyboardEvent) => event.key === 'Escape' && onClose()
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [isOpen, onClose])
  useEffect(() => {
    if (!isOpen) return
    return () => document.getElementById(menuButtonId)?.focus()
  }, [isOpen])
  const width = isRail ? 'md:w-14' : 'md:w-14 xl:w-[232px]'
  const words = isRail ? 'md:sr-only' : 'md:max-xl:sr-only'
  return (
    <>
      {isOpen && (
        <div
          aria-hidden="true"
          className="fixed inset-0 z-30 bg-scrim md:hidden"
          onClick={onClose}
        />
      )}
      <nav
        aria-label={t`Pages`}
        className={`${isOpen ? 'max-md:flex' : 'max-md:hidden'} fixed inset-y-0 left-0 z-40 flex w-64 flex-col overflow-y-auto print:hidden border-r border-border bg-bg px-2 py-2 md:sticky md:top-0 md:h-dvh ${width}`}
      >
        <div className="flex h-8 items-center justify-between px-2">
          <Link to="/" className="plain-link flex items-center gap-2 font-semibold">
            <Mark />
            <span className={words}>Tollgate</span>
          </Link>
          <span className="md:hidden">
            {isOpen && (
              <IconButton autoFocus icon="close" label={t`Close the menu`} onClick={onClose} />
            )}
          </span>
        </div>
        <Items items={userPages} words={words} />
        <a
          href="/docs"
          className="plain-link relative flex h-8 shrink-0 items-center gap-2.5 rounded-control px-2 text-text-2 hover:bg-sunken hover:text-text max-md:h-11"
        >
          <Icon name="docs" />
          <span className={words}>
            <Trans>API reference</Trans>
          </span>
        </a>
        {operator && (
          <>
            <hr className="mx-2 my-2 border-border" />
            <p className={`px-2 pb-1 text-label text-text-3 ${words}`}>
              <Trans>Operator</Trans>
            </p>
            <Items items={operatorPages} words={words} />
          </>
        )}
        <div className="mt-auto hidden pt-2 xl:block">
          <IconButton
            icon={isRail ? 'right' : 'left'}
            label={isRail ? t`Expand the sidebar` : t`Collapse the sidebar`}
            onClick={() => setPreferences({ sidebar: isRail ? 'full' : 'rail' })}
          />
        </div>
      </nav>
    </>
  )
}

function Items({
  items,
  words,
}: {
  readonly items: readonly NavigationItem[]
  readonly words: string
}) {
  const { t } = useLingui()
  const features = useFeatures()
  const shown = items.filter(({ feature }) => feature === undefined || features[feature])
  return (
    <ul className="mt-1 flex flex-col gap-px">
      {shown.map(({ to, label, icon }) => (
        <li key={to}>
          <Link
            to={to}
            activeOptions={{ exact: to === '/' || to === '/admin', includeSearch: false }}
            title={t(label)}
            className="plain-link relative flex h-8 items-center gap-2.5 rounded-control px-2 text-text-2 hover:bg-sunken hover:text-text max-md:h-11"
            activeProps={{
              className:
                'bg-surface !text-text before:absolute before:inset-y-1.5 before:left-0 before:w-0.5 before:rounded before:bg-accent',
            }}
          >
            <Icon name={icon} />
            <span className={words}>{t(label)}</span>
          </Link>
        </li>
      ))}
    </ul>
  )
}

export function Mark() {
  return (
    <svg aria-hidden="true" width="20" height="20" viewBox="0 0 32 32">
      <rect width="32" height="32" rx="7" fill="var(--primary)" />
      <path
        d="M8 23V11m16 12V11M5 11h22M12 16h8M12 20h8"
        fill="none"
        stroke="var(--on-primary)"
        strokeLinecap="round"
        strokeWidth="2.4"
      />
    </svg>
  )
}
