// Checks the names of groups that use cases are given.

import { suggestion } from '../config/problems.ts'
import { type AdminContext, AdminError } from './use-case.ts'

/** Accepts any name before a server has first started, since the groups are not known then. Throws AdminError. */
export async function checkGroups(
  { store }: AdminContext,
  groups: readonly string[] | null | undefined,
): Promise<void> {
  const known = groups == null ? [] : await store.deployment.groups()
  if (known.length === 0) return
  for (const [index, group] of (groups ?? []).entries()) {
    if (known.includes(group)) continue
    const near = suggestion(group, known) || `; the configuration has ${known.join(', ')}`
    throw new AdminError('invalid', `groups[${index}]`, `there is no such group${near}`)
  }
}
