// The command line: finds the command, runs it, and turns failures into one line and an exit code.

import { AdminError } from '../admin/use-case.ts'
import { ConfigError } from '../config/problems.ts'
import { isProgram } from '../installation.ts'
import { accountCredit, accountDebit, accountList, balance } from './account.ts'
import { archiveList, archiveVerify } from './archive.ts'
import { audit } from './audit.ts'
import { backup, restore } from './backup.ts'
import { channelList, channelModels, channelTest } from './channel.ts'
import { codesCreate, codesList, codesRevoke } from './codes.ts'
import { type Command, type Line, UsageError } from './command.ts'
import { configCheck, configShow } from './config.ts'
import { configImport } from './config-import.ts'
import { dataCopy } from './data.ts'
import { exportDdl, exportRestart, exportStatusCommand } from './export.ts'
import { commandHelp, createHelp, version } from './help.ts'
import {
  historyDelete,
  historyExport,
  historyKeygen,
  historyList,
  historySearch,
  historySet,
  historyShow,
} from './history.ts'
import {
  keyCreate,
  keyDisable,
  keyEnable,
  keyList,
  keyRemove,
  keyRotate,
  keyShow,
  keyUpdate,
} from './key.ts'
import { mailTest } from './mail.ts'
import {
  managementKeyCreate,
  managementKeyDisable,
  managementKeyList,
  managementKeyRemove,
} from './management-key.ts'
import { migrate } from './migrate.ts'
import { modelList, modelShow } from './model.ts'
import { print, ReaderGone, say } from './output.ts'
import { parseLine } from './parse.ts'
import {
  priceCancel,
  priceList,
  priceRollback,
  priceSchedule,
  priceSet,
  priceWithdraw,
} from './price.ts'
import { priceApply } from './price-apply.ts'
import { catalogUpdate, priceImport } from './price-import.ts'
import { refusalOf } from './refusal.ts'
import { requestRunning, requestShow, requestStop } from './request.ts'
import { settingsList, settingsSet, settingsUnset } from './run-time.ts'
import { serve } from './serve.ts'
import { setAsideDiscard, setAsideList, setAsideSettle } from './set-aside.ts'
import { adminLink, inviteCreate, inviteList, inviteRevoke } from './sign-in.ts'
import { stats } from './stats.ts'
import { channelCreate, channelDelete, channelUpdate } from './stored-channel.ts'
import { usage } from './usage.ts'
import {
  userDelete,
  userGroups,
  userList,
  userResume,
  userRole,
  userShow,
  userSuspend,
} from './user.ts'
import { webhookTest } from './webhook.ts'
import { whatIfCommand } from './what-if.ts'

const commands: readonly Command[] = [
  serve,
  keyCreate,
  keyList,
  keyShow,
  keyUpdate,
  keyRotate,
  keyDisable,
  keyEnable,
  keyRemove,
  managementKeyCreate,
  managementKeyList,
  managementKeyDisable,
  managementKeyRemove,
  adminLink,
  userList,
  userShow,
  userRole,
  userGroups,
  userSuspend,
  userResume,
  userDelete,
  inviteCreate,
  inviteList,
  inviteRevoke,
  accountList,
  accountCredit,
  accountDebit,
  balance,
  codesCreate,
  codesList,
  codesRevoke,
  usage,
  archiveList,
  archiveVerify,
  exportStatusCommand,
  exportRestart,
  exportDdl,
  requestShow,
  requestRunning,
  requestStop,
  stats,
  historySet,
  historyList,
  historySearch,
  historyShow,
  historyDelete,
  historyExport,
  historyKeygen,
  audit,
  setAsideList,
  setAsideSettle,
  setAsideDiscard,
  backup,
  restore,
  dataCopy,
  migrate,
  priceList,
  priceSet,
  priceSchedule,
  priceCancel,
  priceWithdraw,
  priceRollback,
  priceImport,
  priceApply,
  catalogUpdate,
  modelList,
  modelShow,
  whatIfCommand,
  channelList,
  channelTest,
  channelModels,
  channelCreate,
  channelUpdate,
  channelDelete,
  configCheck,
  configShow,
  configImport,
  mailTest,
  webhookTest,
  settingsList,
  settingsSet,
  settingsUnset,
  version,
]

async function run(args: readonly string[]): Promise<number> {
  try {
    return await runLine(parseLine(args, [...commands, createHelp(commands)]))
  } catch (error) {
    if (error instanceof ReaderGone) return 0
    say(`tollgate: ${describe(error)}`)
    return error instanceof UsageError ? 2 : 1
  }
}

async function runLine(line: Line): Promise<number> {
  const { command, words, flags } = line
  if (flags.has('help')) {
    await print(commandHelp(command))
    return 0
  }
  try {
    const json = flags.has('json')
    const code = await command.run({ words, flags, json, env: process.env, nowMs: Date.now() })
    return code ?? 0
  } catch (error) {
    throw error instanceof AdminError ? refusalOf(error, line) : error
  }
}

/** One line of text; a configuration error has a line for each problem. */
function describe(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return error instanceof ConfigError ? text : (text.split('\n', 1)[0] ?? '')
}

/** Runs the command and sets the exit code: 0 done, 1 failed, 2 wrong command line. */
export async function main(args: readonly string[]): Promise<void> {
  // `print` reports this error too; without a listener it would end the process with a stack trace.
  process.stdout.on('error', () => undefined)
  process.exitCode = await run(args)
}

if (import.meta.main && !isProgram) await main(process.argv.slice(2))
