// Operators choose whose data the pages show: everybody's, or one account's. It stands in the address as `account`.

import { Trans, useLingui } from '@lingui/react/macro'
import { useNavigate, useSearch } from '@tanstack/react-router'
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

export function AccountScope() {
  const { t } = useLingui()
  const account = useAccount()
  const navigate = useNavigate()
  const show = (chosen: string | undefined) =>
    void navigate({ to: '.', search: (search) => ({ ...search, account: chosen }) })
  if (account === undefined) return <AccountPicker onChoose={show} />
  return (
    // On a phone it has a line of its own below the header's, so that the name is not cut to a few letters.
    <span className="flex min-w-0 items-center gap-1 rounded bg-warning-tint pl-2 text-label text-warning max-md:order-last max-md:-mx-2 max-md:w-[calc(100%+1rem)] max-md:justify-between max-md:rounded-none max-md:pl-4">
      <span className="truncate" title={account}>
        <Trans>Account {account}</Trans>
      </span>
      <IconButton
        icon="close"
        label={t`Show all accounts`}
        className="size-6"
        onClick={() => show(undefined)}
      />
    </span>
  )
}
