// Reads flags and environment variables, which take precedence over the file.

import { type Problem, suggestion } from './problems.ts'
import {
  expectedDatabaseUrl,
  isDatabaseUrl,
  isHttpUrl,
  isUrlOf,
  logLevels,
  numberFrom,
  portRange,
  valkeySchemes,
  workersRange,
} from './rules.ts'
import type { Config } from './types.ts'

/** The flags as parsed from the command line, without dashes. */
export interface Flags {
  readonly config?: string | undefined
  readonly data?: string | undefined
  readonly port?: string | undefined
  readonly host?: string | undefined
  readonly workers?: string | undefined
  /** `off`: no console is served. */
  readonly console?: string | undefined
}

export type Environment = Readonly<Record<string, string | undefined>>

/** The values of flags and environment; where a member is absent the file's value applies. */
export interface Override {
  file?: string
  dataDir?: string
  host?: string
  port?: number
  workers?: number
  console?: boolean
  publicUrl?: string
  databaseUrl?: string
  valkeyUrl?: string
  encryptionKey?: string
  logLevel?: Config['logLevel']
}

const shortestKey = 16

/**
 * An empty variable counts as unset; an empty flag is one whose variable a script forgot. Problems are reported under
 * the name of the flag or variable.
 */
export function readOverride(flags: Flags, env: Environment, problems: Problem[]): Override {
  const override: Override = {}
  for (const [name, value] of Object.entries(flags)) {
    if (value === '') problems.push({ path: `--${name}`, message: 'must not be empty' })
  }
  const file = firstOf(['--config', flags.config], ['TOLLGATE_CONFIG', env.TOLLGATE_CONFIG])
  if (file !== null) override.file = file.value
  const data = firstOf(['--data', flags.data], ['TOLLGATE_DATA', env.TOLLGATE_DATA])
  if (data !== null) override.dataDir = data.value
  const host = firstOf(['--host', flags.host], ['HOST', env.HOST])
  if (host !== null) override.host = host.value
  const port = firstOf(['--port', flags.port], ['PORT', env.PORT])
  if (port !== null) override.port = readWhole(port, portRange, problems)
  const workers = firstOf(['--workers', flags.workers], ['TOLLGATE_WORKERS', env.TOLLGATE_WORKERS])
  if (workers !== null) override.workers = readWhole(workers, workersRange, problems)
  const console = firstOf(
    ['--no-console', flags.console],
    ['TOLLGATE_CONSOLE', env.TOLLGATE_CONSOLE],
  )
  if (console !== null) override.console = readSwitch(console, problems)
  readAddresses(env, override, problems)
  const encryption = firstOf(['ENCRYPTION_KEY', env.ENCRYPTION_KEY])
  if (encryption !== null) {
    override.encryptionKey = encryption.value
    if (encryption.value.length < shortestKey) {
      const message = `expected at least ${shortestKey} characters`
      problems.push({ path: encryption.name, message })
    }
  }
  const level = firstOf(['LOG_LEVEL', env.LOG_LEVEL])
  if (level !== null) {
    const known = logLevels.find((name) => name === level.value.toLowerCase())
    if (known !== undefined) override.logLevel = known
    else {
      const message = `expected one of ${logLevels.join(', ')}${suggestion(level.value, logLevels)}`
      problems.push({ path: level.name, message })
    }
  }
  return override
}

function readAddresses(env: Environment, override: Override, problems: Problem[]): void {
  const publicUrl = firstOf(['PUBLIC_URL', env.PUBLIC_URL])
  if (publicUrl !== null) {
    override.publicUrl = publicUrl.value
    if (!isHttpUrl(publicUrl.value)) {
      problems.push({ path: publicUrl.name, message: 'expected an http or https address' })
    }
  }
  const database = firstOf(['DATABASE_URL', env.DATABASE_URL])
  if (database !== null) {
    override.databaseUrl = database.value
    if (!isDatabaseUrl(database.value)) {
      problems.push({ path: database.name, message: expectedDatabaseUrl })
    }
  }
  const valkey = firstOf(['VALKEY_URL', env.VALKEY_URL])
  if (valkey !== null) {
    override.valkeyUrl = valkey.value
    if (!isUrlOf(valkey.value, valkeySchemes)) {
      problems.push({ path: valkey.name, message: 'expected a redis:// or valkey:// address' })
    }
  }
}

interface Setting {
  readonly name: string
  readonly value: string
}

function firstOf(...sources: [name: string, value: string | undefined][]): Setting | null {
  for (const [name, value] of sources) {
    if (value !== undefined && value !== '') return { name, value }
  }
  return null
}

function readSwitch({ name, value }: Setting, problems: Problem[]): boolean {
  const isOn = value === 'on' || value === 'true'
  if (!isOn && value !== 'off' && value !== 'false')
    problems.push({ path: name, message: 'expected on or off' })
  return isOn
}

interface Range {
  readonly min: number
  readonly max: number
}

function readWhole(setting: Setting, { min, max }: Range, problems: Problem[]): number {
  const value = numberFrom(setting.value)
  if (value !== null && Number.isInteger(value) && value >= min && value <= max) return value
  problems.push({
    path: setting.name,
    message: `expected a whole number from ${min} to ${max}`,
  })
  return min
}
