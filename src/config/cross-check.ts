// Checks channels against the known vendors, formats and groups, and the currency of payments. Needs no schema.

import { isPattern } from './beginnings.ts'
import { type Problem, pathText, suggestion } from './problems.ts'
import type { FileSettings } from './schema.ts'

/** Names that only higher folders know. */
export interface KnownNames {
  readonly vendors: readonly string[]
  readonly dialects: readonly string[]
  /** Vendors without a default address. */
  readonly addressless?: readonly string[]
}

/** `at`: the channel's place in the file. */
export function channelProblems(
  channel: FileSettings['channels'][number],
  at: readonly PropertyKey[],
  groups: ReadonlySet<string>,
  known: KnownNames,
): Problem[] {
  const path = (...steps: readonly PropertyKey[]) => pathText([...at, ...steps])
  const problems = unknownName(path('vendor'), 'vendor', channel.vendor, new Set(known.vendors))
  if (channel.baseUrl === null && known.addressless?.includes(channel.vendor)) {
    problems.push({ path: path('baseUrl'), message: `is required for vendor ${channel.vendor}` })
  }
  if (channel.dialect !== null) {
    const dialects = new Set(known.dialects)
    problems.push(...unknownName(path('dialect'), 'dialect', channel.dialect, dialects))
  }
  for (const [position, name] of (channel.groups ?? []).entries()) {
    problems.push(...unknownName(path('groups', position), 'group', name, groups))
  }
  const models = channel.models ?? []
  for (const [publicName, vendorName] of Array.isArray(models) ? [] : Object.entries(models)) {
    if (isPattern(vendorName) && !isPattern(publicName)) {
      problems.push({
        path: path('models', publicName),
        message: 'expected a * at the end of both names, or of the first only',
      })
    }
  }
  const { region } = channel.options ?? {}
  // It is part of a vendor's host name: anything else could send the channel's key to another host.
  if (region !== undefined && !/^[a-z0-9-]{1,40}$/.test(region)) {
    const message = 'expected a region of small letters, digits and -'
    problems.push({ path: path('options', 'region'), message })
  }
  return [...problems, ...keyProblems(channel, path)]
}

function keyProblems(
  { key, keys }: FileSettings['channels'][number],
  path: (...steps: readonly PropertyKey[]) => string,
): Problem[] {
  if (key !== null && keys.length > 0) {
    return [
      { path: path('keys'), message: 'cannot be set together with key: leave one of them out' },
    ]
  }
  const known = new Set<string>()
  return keys.flatMap(({ name }, index) => {
    if (!known.has(name)) {
      known.add(name)
      return []
    }
    return [
      {
        path: path('keys', index, 'name'),
        message: 'another key of the channel has the same name',
      },
    ]
  })
}

/** Stripe counts these in whole units or in thousandths (https://docs.stripe.com/currencies): ours would be wrong. */
const otherDecimals: ReadonlySet<string> = new Set(
  'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF BHD JOD KWD OMR TND'.split(' '),
)

export function currencyProblems({
  currency,
  payments: { stripe },
}: Pick<FileSettings, 'currency' | 'payments'>): Problem[] {
  if (stripe === null || !otherDecimals.has(stripe.currency ?? currency)) return []
  const message = "expected one with two decimals; left out, it is the deployment's currency"
  return [{ path: 'payments.stripe.currency', message }]
}

export function unknownName(
  path: string,
  what: string,
  name: string,
  known: ReadonlySet<string>,
): Problem[] {
  if (known.has(name)) return []
  const near = known.size > mostCompared ? '' : suggestion(name, known)
  return [{ path, message: `unknown ${what}${near || `; expected one of ${listed(known)}`}` }]
}

/**
 * With more known names than these, a wrong name is not compared with each, and not all are listed: there may be as
 * many wrong names.
 */
const mostCompared = 1_000
const mostListed = 100

function listed(known: ReadonlySet<string>): string {
  const names = [...known.values().take(mostListed)].join(', ')
  return known.size > mostListed ? `${names} and ${known.size - mostListed} more` : names
}
