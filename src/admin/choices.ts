// What statistics and requests can be narrowed down to: the values each dimension has ever had.

import type { RollupDimension } from '../store/rollup-table.ts'
import type { AdminContext } from './use-case.ts'

const mostValues = 500

type OfCallers = Exclude<RollupDimension, 'account' | 'channel'>

const ofCallers: readonly OfCallers[] = ['model', 'key', 'group', 'operation', 'statusClass']

/** Sorted, the first 500 of each; channels for operators alone. */
type Choices = Readonly<Record<OfCallers, readonly string[]>> & {
  readonly channel?: readonly string[]
}

/** `owner`: only what that account has used, and no channels. `account`: the same, for operators. */
export async function listChoices(
  { store }: Pick<AdminContext, 'store'>,
  {
    account,
    owner,
  }: { readonly account?: string | undefined; readonly owner?: string | undefined },
): Promise<Choices> {
  const whose = owner ?? account ?? null
  const dimensions = owner === undefined ? [...ofCallers, 'channel' as const] : ofCallers
  const entries = await Promise.all(
    dimensions.map(async (each) => [each, await store.rollups.values(each, whose, mostValues)]),
  )
  return Object.fromEntries(entries) as Choices
}
