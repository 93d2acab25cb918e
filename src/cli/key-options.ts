// Shared by the key commands: the options that limit a key, and how they are read.

import { type Flags, type Option, UsageError } from './command.ts'

export const narrowingOptions = {
  expires: { type: 'string', value: 'TIME', help: 'when it stops working' },
  models: {
    type: 'string',
    value: 'A,B',
    help: "only these of its group's models; `gpt-4*` for all that begin so",
  },
  deny: { type: 'string', value: 'A,B', help: 'never these models, even if allowed elsewhere' },
  from: {
    type: 'string',
    value: 'A,B',
    help: 'only from these IP addresses; `10.0.0.0/8` for a range',
  },
  rpm: { type: 'string', value: 'N', help: 'requests a minute' },
  tpm: { type: 'string', value: 'N', help: 'tokens a minute' },
  concurrency: { type: 'string', value: 'N', help: 'requests at once' },
  spend: {
    type: 'string',
    value: 'AMOUNT[/PERIOD]',
    help: 'the most it may spend: `25/day`, `/week`, `/month`; `25` alone is for all time',
  },
  zone: {
    type: 'string',
    value: 'ZONE',
    help: 'time zone whose midnight begins a period; UTC by default',
  },
  history: {
    type: 'string',
    value: 'MODE',
    help: "what is kept of its messages: off, metadata, full, sealed; else its account's",
  },
} as const satisfies Readonly<Record<string, Option>>

/** The option that gives each field. */
export const narrowingFields = {
  expiresAt: 'expires',
  deniedModels: 'deny',
  addresses: 'from',
  requestsPerMinute: 'rpm',
  tokensPerMinute: 'tpm',
  concurrentRequests: 'concurrency',
  spendLimit: 'spend',
  historyMode: 'history',
} as const

/** Reads the options of `narrowingOptions`; `none` removes a limit. */
export function readNarrowing(flags: Flags) {
  return {
    expiresAt: orNone(flags, 'expires', () => flags.text('expires')),
    models: orNone(flags, 'models', () => readList(flags, 'models')),
    deniedModels: orNone(flags, 'deny', () => readList(flags, 'deny')),
    addresses: orNone(flags, 'from', () => readList(flags, 'from')),
    requestsPerMinute: orNone(flags, 'rpm', () => flags.number('rpm')),
    tokensPerMinute: orNone(flags, 'tpm', () => flags.number('tpm')),
    concurrentRequests: orNone(flags, 'concurrency', () => flags.number('concurrency')),
    spendLimit: orNone(flags, 'spend', () => readSpendLimit(flags)),
    historyMode: orNone(flags, 'history', () => flags.text('history')),
  }
}

function orNone<Value>(flags: Flags, name: string, read: () => Value): Value | null {
  return flags.text(name) === 'none' ? null : read()
}

export function readList(flags: Flags, name: string): readonly string[] | undefined {
  const items = flags
    .text(name)
    ?.split(',')
    .map((item) => item.trim())
  if (items?.includes('')) throw new UsageError(`--${name}: a name between commas is empty`)
  return items
}

function readSpendLimit(flags: Flags) {
  const [amount, period, ...more] = flags.text('spend')?.split('/') ?? []
  const timeZone = flags.text('zone')
  if (amount === undefined) {
    if (timeZone === undefined) return undefined
    throw new UsageError('--zone needs a spend limit: --spend AMOUNT/PERIOD')
  }
  if (more.length > 0) throw new UsageError('--spend: expected AMOUNT or AMOUNT/PERIOD')
  return { amount, ...(period !== undefined && { period }), timeZone }
}
