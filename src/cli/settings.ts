// Finds the configuration and the data for a command.

import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { addEvent, madeBy } from '../admin/events.ts'
import type { AdminContext } from '../admin/use-case.ts'
import { type StoredRooms, storedSecretsPurpose } from '../admin/with-stored.ts'
import defaults from '../config/defaults.json' with { type: 'json' }
import { expectedDatabaseUrl, isDatabaseUrl } from '../config/rules.ts'
import type { Config } from '../config/types.ts'
import { encryptionKey, hasEncryptionKey } from '../identity/encryption-key.ts'
import { createSecretBox } from '../identity/secret-box.ts'
import { codeOf } from '../store/data-error.ts'
import type { PriceRow } from '../store/ledger.ts'
import { openExisting, openStore, type StoreSettings } from '../store/open.ts'
import { databaseFile } from '../store/sqlite.ts'
import type { Store } from '../store/store.ts'
import type { Context } from './command.ts'
import { say } from './output.ts'

/** The whole configuration, as the server would read it. `file` takes precedence over `--config`. */
export async function loadFor(context: Context, file?: string): Promise<Config> {
  const { loadConfiguration } = await import('../admin/configuration.ts')
  return loadConfiguration({
    flags: { config: file ?? context.flags.text('config'), data: context.flags.text('data') },
    env: context.env,
  })
}

const commandLine = 'command line'

/**
 * Opens the store for one piece of work and closes it afterwards. Unless `make` is set, missing data is an error: a
 * mistyped directory would otherwise look like an empty one.
 */
export async function withStore<Result>(
  context: Context,
  work: (admin: AdminContext) => Promise<Result>,
  make?: 'make',
): Promise<Result> {
  const { flags, env, nowMs } = context
  const actor = flags.text('actor') ?? env.USER ?? env.LOGNAME ?? commandLine
  const settings = await storeSettings(context)
  const found = await openExisting(settings)
  if (found === null && make !== 'make') throw noData(settings)
  const store = found ?? (await openStore(settings))
  try {
    return await work({ store, actor, nowMs, currency: () => currencyOf(store, context) })
  } finally {
    await store.close()
  }
}

/** What the audit log says of a change; the actor is the command line, and the detail names who ran it. */
export interface ChangeEvent {
  /** The id of the control API's operation, such as `updateKey`. */
  readonly action: string
  /** Left out: the result has the id of what was made. */
  readonly target?: Readonly<Record<string, string>>
  readonly detail?: object
}

/** Like `withStore`, for changes: adds an operator event, unless `eventOf` says that nothing was changed (null). */
export function withChange<Result>(
  context: Context,
  work: (admin: AdminContext) => Promise<Result>,
  eventOf: (done: Result) => ChangeEvent | null,
  make?: 'make',
): Promise<Result> {
  return withStore(context, (admin) => recorded(admin, work, eventOf), make)
}

async function recorded<Result>(
  admin: AdminContext,
  work: (admin: AdminContext) => Promise<Result>,
  eventOf: (done: Result) => ChangeEvent | null,
): Promise<Result> {
  const done = await work(admin)
  const event = eventOf(done)
  if (event === null) return done
  await addEvent(admin.store, {
    actor: commandLine,
    role: 'admin',
    action: event.action,
    target: event.target ?? { ...madeBy(done) },
    detail: { actor: admin.actor, ...event.detail },
    address: null,
    changes: null,
  })
  return done
}

/** The currency of the data; before the server's first start, the one it would use. */
async function currencyOf(store: Store, context: Context): Promise<string> {
  const kept = await store.deployment.currency()
  if (kept !== null) return kept
  const configured = context.flags.has('config') || Boolean(context.env.TOLLGATE_CONFIG)
  return configured ? (await loadFor(context)).currency : defaults.currency
}

export function requireData(dataDir: string): void {
  if (existsSync(join(dataDir, databaseFile))) return
  throw noData({ dataDir, databaseUrl: null })
}

function noData({ dataDir, databaseUrl }: StoreSettings): Error {
  if (databaseUrl === null && isForbidden(join(dataDir, databaseFile))) {
    return new Error(`this user may not read ${dataDir}: run the command as the server's user`)
  }
  const [place, remedy] =
    databaseUrl === null
      ? [dataDir, "name the server's data directory with --data"]
      : ['the database', 'run `tollgate migrate`']
  return new Error(`there is no Tollgate data in ${place}: ${remedy}, or start the server once`)
}

function isForbidden(path: string): boolean {
  try {
    statSync(path)
    return false
  } catch (error) {
    return codeOf(error) === 'EACCES'
  }
}

/** Reads the configuration file only where that may tell where the data is. */
export async function storeSettings(context: Context): Promise<StoreSettings> {
  const { flags, env } = context
  const dataDir = flags.text('data') ?? (env.TOLLGATE_DATA || undefined)
  const databaseUrl = env.DATABASE_URL || null
  const saidElsewhere = dataDir !== undefined || databaseUrl !== null
  if (flags.has('config') || (env.TOLLGATE_CONFIG && !saidElsewhere)) return loadFor(context)
  if (databaseUrl !== null && !isDatabaseUrl(databaseUrl)) {
    throw new Error(`DATABASE_URL: ${expectedDatabaseUrl}`)
  }
  return { dataDir: resolve(dataDir ?? 'data'), databaseUrl }
}

/** Every price row of the data that the command line or the environment names; null where there is none. */
export async function storedIn(
  { flags, env }: Context,
  { dataDir, databaseUrl }: Config,
): Promise<readonly PriceRow[] | null> {
  const isNamed = flags.has('data') || env.TOLLGATE_DATA || env.DATABASE_URL
  const store = isNamed ? await openExisting({ dataDir, databaseUrl }) : null
  if (store === null) return null
  try {
    return await store.prices.all()
  } finally {
    await store.close()
  }
}

/** The configuration with the store's items, where there is data, and with the channels that the server would use. */
export async function loadWithChannels(context: Context): Promise<Config> {
  const { withChannels } = await import('../admin/channels.ts')
  return withChannels(await withStoredOf(await loadFor(context)), context.env)
}

async function withStoredOf(config: Config): Promise<Config> {
  const store = await openExisting(config)
  if (store === null) return config
  try {
    const items = await store.configuration.all()
    if (items.length === 0) return config
    const { withStored } = await import('../admin/with-stored.ts')
    const merged = withStored(config, items, storedBox(config))
    for (const { kind, id, problem } of merged.leftOut) {
      say(`note: the ${kind} ${id} is left out: ${problem}`)
    }
    return merged
  } finally {
    await store.close()
  }
}

/** `withChange` with what a use case needs besides the store to change stored items. */
export async function withStoredRooms<Result>(
  context: Context,
  work: (admin: AdminContext, rooms: StoredRooms) => Promise<Result>,
  eventOf: (done: Result) => ChangeEvent,
): Promise<Result> {
  const declared = await loadFor(context)
  return withChange(
    context,
    (admin) => work(admin, { declared, box: storedBox(declared) }),
    eventOf,
  )
}

/** With PostgreSQL the key is the servers': secrets encrypted with one that is made here could not be read by them. */
function storedBox(config: Config): StoredRooms['box'] {
  if (config.databaseUrl !== null && !hasEncryptionKey(config)) {
    throw new Error(
      "the servers' encryption key is needed: set ENCRYPTION_KEY to theirs, or name a data directory with their encryption.key by --data",
    )
  }
  return createSecretBox(encryptionKey(config), storedSecretsPurpose)
}
