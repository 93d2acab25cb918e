// What must be equal on every node, as this process reports it: its version, and fingerprints of key and configuration.

import { createHmac } from 'node:crypto'
import type { Config } from '../config/types.ts'
import { encryptionKey } from '../identity/encryption-key.ts'
import type { Alike } from '../store/running.ts'

const known = new WeakMap<Config, Alike>()

/** Fingerprints are keyed by the encryption key, so that the store does not help anybody guess their contents. */
export function alikeOf(version: string, config: Config): Alike {
  const found = known.get(config)
  if (found !== undefined) return found
  const key = encryptionKey(config)
  const fingerprint = (text: string) =>
    createHmac('sha256', key).update(text).digest('hex').slice(0, 16)
  const alike = {
    version,
    encryptionKey: fingerprint('encryption key'),
    configuration: fingerprint(JSON.stringify(sharedOf(config), withAmounts)),
  }
  known.set(config, alike)
  return alike
}

/** The configuration without what may differ between nodes: places of files, services and ports, and the log level. */
function sharedOf(config: Config): object {
  const { dataDir, file, sources, databaseUrl, valkeyUrl, encryptionKey: _, ...others } = config
  const { logLevel, server, ...shared } = others
  const { host, port, workers, healthPort, ...rest } = server
  return { ...shared, server: rest }
}

function withAmounts(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
