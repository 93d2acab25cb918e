// The bar above every page: whose data is shown, search, balance, time zone, and the person's own menu.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { read } from '../api/client.ts'
import { type Person, roleOf, useBalance } from '../api/queries.ts'
import { viewedAccount } from '../api/viewing.ts'
import { useTimeZone } from '../state/preferences.ts'
import { buttonClass, IconButton } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { later } from '../ui/later.tsx'
import { useIsPhone } from '../ui/media.ts'
import { Money } from '../ui/values.tsx'
import { AccountScope, useAccount } from './account-scope.tsx'
import { Bell } from './bell.tsx'
import { menuButtonId } from './sidebar.tsx'

const PersonMenu = later(() => import('./person-menu.tsx'), <span className="size-8" />)
const ZoneMenu = later(() => import('./zone-menu.tsx'), <ZoneName />)

function ZoneName() {
  return <span className="px-2 text-label text-text-3">{useTimeZone()}</span>
}

interface HeaderProps {
  /** null: nobody is signed in, and the page is a public one. */
  readonly person: Person | null
  readonly onMenu: () => void
  readonly onSearch: () => void
}

export function Header({ person, onMenu, onSearch }: HeaderProps) {
  const { t } = useLingui()
  const { operator } = roleOf(person)
  return (
    <header className="sticky top-0 z-30 flex min-h-12 items-center gap-x-2 border-b border-border bg-bg px-2 max-md:flex-wrap md:px-4 print:hidden">
      <span className="md:hidden">
        <IconButton id={menuButtonId} icon="menu" label={t`Open the menu`} onClick={onMenu} />
      </span>
      {operator && <AccountScope />}
      {person !== null && (
        <button
          type="button"
          onClick={onSearch}
          className="flex h-8 min-w-8 items-center gap-2 overflow-hidden rounded-control border border-border bg-surface px-2 text-text-3 whitespace-nowrap hover:border-border-strong md:w-72 md:shrink-[9999]"
        >
          <Icon name="search" />
          <span className="truncate max-md:sr-only">
            <Trans>Search or paste an id</Trans>
          </span>
          <kbd className="ml-auto font-mono text-label max-md:hidden">
            {navigator.platform.startsWith('Mac') ? '⌘K' : 'Ctrl K'}
          </kbd>
        </button>
      )}
      <div className="ml-auto flex shrink-0 items-center gap-1">
        <ZoneMenu />
        {person === null ? (
          <Link to="/sign-in" className={buttonClass('primary')}>
            <Trans>Sign in</Trans>
          </Link>
        ) : (
          <>
            <Bell />
            <BalanceChip own={person.id} />
            <PersonMenu person={person} />
          </>
        )}
      </div>
    </header>
  )
}

/** The balance below which the signed-in person wants to be warned; null: none is set. */
function useWarnBelow(enabled: boolean): bigint | null {
  const alerts = useQuery({ ...read('/api/me/alerts'), staleTime: 300_000, enabled })
  const nano = enabled ? alerts.data?.lowBalanceNano : null
  return nano == null ? null : BigInt(nano)
}

const chipColours = {
  own: 'border-border bg-surface',
  other: 'border-warning/50 bg-warning-tint text-warning',
  low: 'border-warning/50 bg-warning-tint text-warning',
  empty: 'border-danger/50 bg-danger-tint text-danger',
}

/**
 * The balance of the account whose data is shown, in words and colour: enough, another's than one's own, less than the
 * person wants to be warned of, nothing left.
 */
function BalanceChip({ own }: { readonly own: string }) {
  const { t } = useLingui()
  const account = useAccount()
  const isOther = account !== undefined && account !== own
  const { data } = useBalance(isOther ? account : undefined)
  const warnBelow = useWarnBelow(!isOther && viewedAccount() === null)
  const isPhone = useIsPhone()
  if (data === undefined) return null
  const isEmpty = BigInt(data.availableNano) <= 0n
  const isLow = !isEmpty && warnBelow !== null && BigInt(data.availableNano) < warnBelow
  const state = isEmpty ? 'empty' : isOther ? 'other' : isLow ? 'low' : 'own'
  const named = isOther ? t`Balance of the account ${account}` : t`Balance available`
  return (
    <Link
      to="/billing"
      title={isEmpty ? t`No balance left: requests are refused` : named}
      // On a phone as high as a finger needs, though it looks no higher than its text.
      className="plain-link flex items-center max-md:h-11"
    >
      <span
        className={`flex h-7 items-center gap-1.5 rounded-full border px-2.5 text-label ${chipColours[state]}`}
      >
        <span className="sr-only">{isOther ? named : <Trans>Balance</Trans>}</span>
        <Money down brief={isPhone} nano={data.availableNano} currency={data.currency} />
        {isEmpty && (
          <span className="max-md:sr-only">
            <Trans>used up</Trans>
          </span>
        )}
        {state === 'low' && (
          <span className="max-md:sr-only">
            <Trans>low</Trans>
          </span>
        )}
      </span>
    </Link>
  )
}
