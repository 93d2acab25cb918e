// What serves requests at present, and how a changed configuration replaces it.

import { storedSecretsPurpose } from '../admin/with-stored.ts'
import { lanesOf } from '../config/channel-keys.ts'
import type { Config } from '../config/types.ts'
import { encryptionKey } from '../identity/encryption-key.ts'
import { ensureAccounts } from '../identity/ensure-accounts.ts'
import { createSecretBox } from '../identity/secret-box.ts'
import type { Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
import type { ProcessParts } from './process.ts'
import type { RunTime } from './run-time.ts'
import { buildServing, type Serving } from './serving.ts'
import { StoredConfiguration } from './stored-configuration.ts'

interface StoredOptions {
  readonly config: Config
  readonly store: Store
  readonly log: Log
}

export function openStored({ config, store, log }: StoredOptions): Promise<StoredConfiguration> {
  const box = createSecretBox(encryptionKey(config), storedSecretsPurpose)
  return StoredConfiguration.open(store.configuration, config, box, log)
}

/** Stores the names of the configuration that the store must know: its accounts and groups. */
export async function keepNames(store: Store, config: Config): Promise<void> {
  await store.deployment.rememberGroups(Object.keys(config.groups))
  await ensureAccounts(store, config, Date.now())
}

export function servingOf(stored: StoredConfiguration, runTime: RunTime, parts: ProcessParts) {
  const { store, prices, keyring, health, history } = parts
  let current: Serving = buildServing(stored.current, parts)
  health.limit(limitsOf(stored.current))
  /** Replaces everything at once; requests under way keep what they began with. */
  const apply = oneAtATime(async (next) => {
    const serving = buildServing(next, parts)
    await keepNames(store, next)
    await prices.load(next)
    runTime.take(next)
    keyring.configure(next.keys)
    for (const lane of changedLanes(current.config, next)) health.reset(lane)
    health.limit(limitsOf(next))
    history.configure(next.history)
    current = serving
  })
  return {
    get current() {
      return current
    },
    /** Applies a changed file, or rejects and keeps the previous configuration. */
    async replace(declared: Config): Promise<void> {
      const before = stored.declared
      try {
        await apply(() => stored.take(declared))
      } catch (error) {
        stored.take(before)
        throw error
      }
    },
    /** Applies changes made at run time. */
    applyStored: () => apply(() => stored.current),
  }
}

/** Runs one call after another, each with the configuration at its turn. */
function oneAtATime(take: (config: Config) => Promise<void>) {
  let last: Promise<void> = Promise.resolve()
  return (next: () => Config): Promise<void> => {
    const done = last.then(() => take(next()))
    last = done.catch(() => undefined)
    return done
  }
}

/** Lanes whose address, key or options changed: their health starts afresh. */
function changedLanes(before: Config, after: Config): readonly string[] {
  const identities = ({ channels }: Config) =>
    channels.flatMap((channel) => {
      const { vendor, baseUrl, options, proxy } = channel
      return lanesOf(channel).map(
        ({ lane, key }) => [lane, JSON.stringify([vendor, baseUrl, key, options, proxy])] as const,
      )
    })
  const known = new Map(identities(before))
  return identities(after).flatMap(([lane, identity]) =>
    known.get(lane) === identity ? [] : [lane],
  )
}

/** Most concurrent requests, by lane; a lane that is missing is unlimited. */
function limitsOf({ channels }: Config): ReadonlyMap<string, number> {
  return new Map(
    channels.flatMap((channel) => {
      const { concurrency } = channel
      if (concurrency === undefined) return []
      return lanesOf(channel).map(({ lane }) => [lane, concurrency] as const)
    }),
  )
}
