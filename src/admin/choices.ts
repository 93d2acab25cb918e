// The filter choices of statistics and requests: the values that each dimension has had.

import type { RollupDimension } from '../store/rollup-table.ts'
import type { AdminContext } from './use-case.ts'

const mostValues = 500

type OfCallers = Exclude<RollupDimension, 'account' | 'channel'>

const ofCallers: readonly OfCallers[] = ['model', 'key', 'group', 'operation', 'statusClass', 'tag']

/** Sorted, at most 500 per dimension; channels for operators only. */
type Choices = Readonly<Record<OfCallers, readonly string[]>> & {
  readonly channel?: readonly string[]
}

/** `owner`: only values of that account, without channels. `account`: values of that account, for operators. */
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
