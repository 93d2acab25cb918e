// What must be equal on every node, as a process tells it of itself: its version, and fingerprints of key and configuration.

import { createHmac } from 'node:crypto'
import type { Config } from '../config/types.ts'
import { encryptionKey } from '../identity/encryption-key.ts'
import type { Alike } from '../store/running.ts'

const known = new WeakMap<Config, Alike>()

/** Fingerprints are keyed by the encryption key, so that the store does not help to guess what they are of. */
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

/** Without what may differ from node to node: where its files, its services and its ports are, and how much it logs. */
function sharedOf(config: Config): object {
  const { dataDir, file, sources, databaseUrl, valkeyUrl, encryptionKey: _, ...others } = config
  const { logLevel, server, ...shared } = others
  const { host, port, workers, healthPort, ...rest } = server
  return { ...shared, server: rest }
}

function withAmounts(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
