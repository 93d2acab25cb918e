// Settings that may change while servers run: what each is, where the file says it, and which word counts.

import type { FileSettings } from './schema.ts'
import type { Config } from './types.ts'

type Section<Name extends keyof FileSettings> = NonNullable<FileSettings[Name]>

export type Notice = Readonly<Section<'notices'>[number]>
type SignUp = NonNullable<Section<'identity'>['signUp']>
type HistoryMode = NonNullable<Section<'history'>['mode']>

/** By the name of the setting, which is its place in the file. */
export interface RunTimeSettings {
  /** Who may make an account by signing in. */
  readonly 'identity.signUp': SignUp
  /** The group of new accounts; there always is one of this name. */
  readonly 'identity.defaultGroup': string
  /** How long the record of each request is kept; null: for ever. */
  readonly 'usage.keepDays': number | null
  /** What is kept of messages, and for how long, where their account has not chosen. */
  readonly 'history.mode': HistoryMode
  readonly 'history.keepDays': number
  readonly notices: readonly Notice[]
  /** Anyone may see how the models of public groups do. */
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

/** What the file says; a setting that it leaves out is absent. */
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

/** The file's word, else the one that was set, else the default. A default group that is gone is `default`. */
export function settingsInForce(config: Config, set: Partial<RunTimeSettings>): RunTimeSettings {
  const settings = { ...runTimeDefaults, ...set, ...declaredSettings(config) }
  const group = settings['identity.defaultGroup']
  if (Object.hasOwn(config.groups, group)) return settings
  return { ...settings, 'identity.defaultGroup': runTimeDefaults['identity.defaultGroup'] }
}
