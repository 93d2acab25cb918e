// Operators choose whose data the pages show: everybody's, or one account's. It stands in the address as `account`.

import { Trans, useLingui } from '@lingui/react/macro'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Problem } from '../api/client.ts'
import { roleOf, useBalance, useMe } from '../api/queries.ts'
import { IconButton } from '../ui/button.tsx'
import { later } from '../ui/later.tsx'

const AccountPicker = later(() => import('./account-picker.tsx'), null)

/**
 * The account whose data a page requests, for the `account` parameter of the API; undefined: all accounts for an
 * operator, one's own for everybody else.
 */
export function useAccount(): string | undefined {
  return useSearch({ strict: false, select: (search) => search.account })
}

/** What a link to a page of everybody's data needs in its address to show one account's. */
export function useScope(account: string): { readonly account?: string } {
  return roleOf(useMe()).operator ? { account } : {}
}

export function AccountScope() {
  const account = useAccount()
  const navigate = useNavigate()
  const show = (chosen: string | undefined) =>
    void navigate({ to: '.', search: (search) => ({ ...search, account: chosen }) })
  if (account === undefined) return <AccountPicker onChoose={show} />
  return <Chosen account={account} onClose={() => show(undefined)} />
}

interface ChosenProps {
  readonly account: string
  readonly onClose: () => void
}

function Chosen({ account, onClose }: ChosenProps) {
  const { t } = useLingui()
  const { error } = useBalance(account)
  // Most pages show only that there is nothing.
  const isUnknown = error instanceof Problem && error.status === 404
  const colours = isUnknown ? 'bg-danger-tint text-danger' : 'bg-warning-tint text-warning'
  return (
    // On a phone it has a line of its own below the header's, so that the name is not cut to a few letters.
    <span
      className={`flex min-w-0 items-center gap-1 rounded pl-2 text-label ${colours} max-md:order-last max-md:-mx-2 max-md:w-[calc(100%+1rem)] max-md:justify-between max-md:rounded-none max-md:pl-4`}
    >
      <span className="truncate" title={account}>
        {isUnknown ? (
          <Trans>There is no account {account}</Trans>
        ) : (
          <Trans>Account {account}</Trans>
        )}
      </span>
      <IconButton icon="close" label={t`Show all accounts`} className="size-6" onClick={onClose} />
    </span>
  )
}
