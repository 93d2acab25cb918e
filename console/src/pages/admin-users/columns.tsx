// The columns of the list of accounts.

import { Trans } from '@lingui/react/macro'
import type { Shape } from '../../api/client.ts'
import { RoleName } from '../../ui/role-name.tsx'
import type { Column } from '../../ui/table.tsx'
import { Count, Id, Money, None, Status, Time } from '../../ui/values.tsx'

export type Listed = Shape<'ListedPerson'>

export const columns: readonly Column<Listed>[] = [
  {
    id: 'status',
    header: <Trans>Status</Trans>,
    cell: (person) => <PersonStatus person={person} />,
  },
  // Always shown: people choose their names themselves, also those of others.
  { id: 'id', isLong: true, header: <Trans>Account</Trans>, cell: ({ id }) => <Id value={id} /> },
  { id: 'name', isLong: true, header: <Trans>Name</Trans>, cell: ({ name, id }) => name || id },
  {
    id: 'email',
    isLong: true,
    header: <Trans>E-mail</Trans>,
    cell: ({ email }) => email ?? <None />,
  },
  { id: 'role', header: <Trans>Role</Trans>, cell: ({ role }) => <RoleName role={role} /> },
  {
    id: 'balance',
    header: <Trans>Balance</Trans>,
    align: 'right',
    sortable: true,
    cell: ({ balanceNano, currency }) => <Money down nano={balanceNano} currency={currency} />,
  },
  {
    id: 'spend',
    header: <Trans>Spend, 30 days</Trans>,
    align: 'right',
    sortable: true,
    cell: ({ spendNano, currency }) => <Money nano={spendNano} currency={currency} />,
  },
  {
    id: 'keys',
    from: 1024,
    header: <Trans>Keys</Trans>,
    align: 'right',
    cell: ({ keys }) => <Count value={keys} />,
  },
  {
    id: 'lastSeen',
    from: 1024,
    header: <Trans>Last seen</Trans>,
    sortable: true,
    cell: ({ lastSeenAt }) => <Time relative at={lastSeenAt} />,
  },
  {
    id: 'newest',
    from: 1024,
    header: <Trans>Joined</Trans>,
    sortable: true,
    cell: ({ createdAt }) => <Time relative at={createdAt} />,
  },
]

export function PersonStatus({ person }: { readonly person: Pick<Listed, 'status'> }) {
  if (person.status === 'active')
    return (
      <Status tone="ok">
        <Trans>Active</Trans>
      </Status>
    )
  if (person.status === 'suspended')
    return (
      <Status tone="warning">
        <Trans>Suspended</Trans>
      </Status>
    )
  return (
    <Status tone="off">
      <Trans>Deleted</Trans>
    </Status>
  )
}
