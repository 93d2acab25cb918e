// Names of people's roles in the deployment.

import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'
import type { Shape } from '../api/client.ts'
import { Badge } from './values.tsx'

type Role = Shape<'Person'>['role']

const names: Readonly<Record<Role, MessageDescriptor>> = {
  user: msg`user`,
  auditor: msg`auditor`,
  admin: msg`admin`,
}

/** A role of a newer gateway is shown unchanged. */
export function RoleName({ role }: { readonly role: string }) {
  const { t } = useLingui()
  return <Badge>{Object.hasOwn(names, role) ? t(names[role as Role]) : role}</Badge>
}

/** All of them, to choose from. */
export function RoleOptions() {
  const { t } = useLingui()
  return Object.entries(names).map(([role, name]) => (
    <option key={role} value={role}>
      {t(name)}
    </option>
  ))
}
