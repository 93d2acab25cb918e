// Settings that change at run time: list, set and unset. The configuration file takes precedence over them.

import {
  declaredSettings,
  type Notice,
  type RunTimeName,
  type RunTimeSettings,
  runTimeDefaults,
  runTimeNames,
  settingsInForce,
} from '../config/run-time.ts'
import type { Config } from '../config/types.ts'
import type { SettingRow } from '../store/settings.ts'
import type { Page } from './page.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'

export interface Setting {
  readonly name: RunTimeName
  /** The value in force. */
  readonly value: RunTimeSettings[RunTimeName]
  readonly default: RunTimeSettings[RunTimeName]
  /** Whether the configuration file sets it, so that it cannot be changed here. */
  readonly declared: boolean
  /** Revision of the last change here; 0: nothing is set. */
  readonly revision: number
  readonly changedAt: string | null
  readonly actor: string | null
}

export async function listSettings(
  { store }: Pick<AdminContext, 'store'>,
  config: Config,
): Promise<Page<Setting>> {
  const rows = await store.settings.all()
  return { items: runTimeNames.map((name) => viewOf(name, rows, config)), next: null }
}

/**
 * Takes effect in every process within a second. Throws AdminError `stale` where another value was set since
 * `revision`.
 */
export async function setSetting(
  context: AdminContext,
  config: Config,
  { name, value, revision }: Input<'setSetting'>,
): Promise<Setting> {
  const { store, actor, nowMs } = context
  checkIsFree(name, config)
  if (name === 'identity.defaultGroup') checkGroup(value, await store.deployment.groups())
  const row = { name, value, actor, changedAt: nowMs }
  checkIsFresh(await store.settings.set(row, revision))
  return viewOf(name, await store.settings.all(), config)
}

/** Returns the setting to its default. */
export async function unsetSetting(
  { store }: AdminContext,
  config: Config,
  { name, revision }: Input<'unsetSetting'>,
): Promise<Setting> {
  checkIsFree(name, config)
  checkIsFresh(await store.settings.unset(name, revision))
  return viewOf(name, await store.settings.all(), config)
}

/** The notices to show at this moment, in the order they were written. */
export function noticesAt(
  { notices }: Pick<RunTimeSettings, 'notices'>,
  nowMs: number,
): readonly Notice[] {
  return notices.filter(
    ({ from, until }) =>
      (from === null || Date.parse(from) <= nowMs) && (until === null || nowMs < Date.parse(until)),
  )
}

function viewOf(name: RunTimeName, rows: readonly SettingRow[], config: Config): Setting {
  const kept = rows.find((row) => row.name === name)
  const set = Object.fromEntries(rows.map((row) => [row.name, row.value]))
  return {
    name,
    value: settingsInForce(config, set)[name],
    default: runTimeDefaults[name],
    declared: name in declaredSettings(config),
    revision: kept?.revision ?? 0,
    changedAt: timeText(kept?.changedAt ?? null),
    actor: kept?.actor ?? null,
  }
}

function checkIsFree(name: RunTimeName, config: Config): void {
  if (!(name in declaredSettings(config))) return
  throw new AdminError(
    'conflict',
    'name',
    `${name} is set in the configuration file: change it there`,
    'in_configuration_file',
  )
}

function checkIsFresh(revision: number | null): void {
  if (revision !== null) return
  throw new AdminError(
    'stale',
    'revision',
    'the setting was changed since it was read: read it again, then repeat the change',
  )
}

function checkGroup(value: unknown, groups: readonly string[]): void {
  if (groups.length === 0 || groups.includes(String(value))) return
  throw new AdminError('invalid', 'value', `unknown group; expected one of ${groups.join(', ')}`)
}
