// Settings that may change while servers run: their types, their place in the file, and which source takes precedence.

import type { FileSettings } from './schema.ts'
import type { Config } from './types.ts'

type Section<Name extends keyof FileSettings> = NonNullable<FileSettings[Name]>

export type Notice = Readonly<Section<'notices'>[number]>
type SignUp = NonNullable<Section<'identity'>['signUp']>
type HistoryMode = NonNullable<Section<'history'>['mode']>

/** Keyed by the setting's name, which is its path in the file. */
export interface RunTimeSettings {
  /** Who may create an account by signing in. */
  readonly 'identity.signUp': SignUp
  /** The group of new accounts; it always exists. */
  readonly 'identity.defaultGroup': string
  /** How long the record of each request is kept, in days; null: for ever. */
  readonly 'usage.keepDays': number | null
  /** What is kept of messages, and for how many days, where their account has not chosen. */
  readonly 'history.mode': HistoryMode
  readonly 'history.keepDays': number
  readonly notices: readonly Notice[]
  /** Whether anyone may see how the models of public groups did. */
  readonly statusPage: boolean
}

export type RunTimeName = keyof RunTimeSettings

export const runTimeDefaults: RunTimeSettings = {
  'identity.signUp': 'open',
  'identity.defaultGroup': 'default',
  'usage.keepDays': null,
  'history.mode': 'off',
  'history.keepDays': 30,
  notices: [],
  statusPage: false,
}

export const runTimeNames = Object.keys(runTimeDefaults) as readonly RunTimeName[]

/** The settings that the file sets; others are absent. */
export function declaredSettings(
  config: Pick<Config, 'identity' | 'usage' | 'history' | 'notices' | 'statusPage'>,
): Partial<RunTimeSettings> {
  const { identity, usage, history, notices, statusPage } = config
  const said = {
    'identity.signUp': identity.signUp,
    'identity.defaultGroup': identity.defaultGroup,
    'usage.keepDays': usage.keepDays,
    'history.mode': history.mode,
    'history.keepDays': history.keepDays,
    notices,
    statusPage,
  }
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== null))
}

/**
 * The file's value, else the one set at run time, else the default. A default group that no longer exists becomes
 * `default`.
 */
export function settingsInForce(config: Config, set: Partial<RunTimeSettings>): RunTimeSettings {
  const settings = { ...runTimeDefaults, ...set, ...declaredSettings(config) }
  const group = settings['identity.defaultGroup']
  if (Object.hasOwn(config.groups, group)) return settings
  return { ...settings, 'identity.defaultGroup': runTimeDefaults['identity.defaultGroup'] }
}
