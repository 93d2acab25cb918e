// The command line: finds the command, runs it, and turns failures into one line and an exit code.

import { ConfigError } from '../config/problems.ts'
import { accountList } from './account.ts'
import { accountCredit, accountDebit } from './adjust.ts'
import { audit } from './audit.ts'
import { backup } from './backup.ts'
import { balance } from './balance.ts'
import { catalogUpdate, type FetchText } from './catalog-update.ts'
import {
  channelList,
  channelModels,
  channelTest,
  type ListModels,
  type TestChannel,
} from './channel.ts'
import { type Command, UsageError } from './command.ts'
import { configCheck, configShow, type Unanswered } from './config.ts'
import { commandHelp, createHelp, version } from './help.ts'
import { keyCreate, keyDisable, keyList, keyRemove } from './key.ts'
import { print, say } from './output.ts'
import { parseLine } from './parse.ts'
import { priceList } from './price.ts'
import { priceApply } from './price-apply.ts'
import { priceImport } from './price-import.ts'
import { priceRollback, priceSchedule, priceSet, priceWithdraw } from './price-set.ts'
import { restore } from './restore.ts'
import { serve } from './serve.ts'
import { usage } from './usage.ts'

const commands: readonly Command[] = [
  serve,
  keyCreate,
  keyList,
  keyDisable,
  keyRemove,
  accountList,
  accountCredit,
  accountDebit,
  balance,
  usage,
  audit,
  backup,
  restore,
  priceList,
  priceSet,
  priceSchedule,
  priceWithdraw,
  priceRollback,
  priceImport,
  priceApply,
  catalogUpdate(loadFetchText),
  channelList,
  channelTest(loadTestChannel),
  channelModels(loadVendorModels),
  configCheck(loadUnanswered),
  configShow,
  version,
]

async function loadTestChannel(): Promise<TestChannel> {
  const room: { testChannel: TestChannel } = await import(
    new URL('../relay/probe.ts', import.meta.url).href
  )
  return room.testChannel
}

async function loadVendorModels(): Promise<ListModels> {
  const room: { vendorModels: ListModels } = await import(
    new URL('../http/vendor-models.ts', import.meta.url).href
  )
  return room.vendorModels
}

async function loadFetchText(): Promise<FetchText> {
  const room: { fetchText: FetchText } = await import(
    new URL('../safe-fetch/fetch-text.ts', import.meta.url).href
  )
  return room.fetchText
}

async function loadUnanswered(): Promise<Unanswered> {
  const room: { unanswered: Unanswered } = await import(
    new URL('../http/unanswered.ts', import.meta.url).href
  )
  return room.unanswered
}

/** Returns the exit code: 0 done, 1 failed, 2 the command line is wrong. */
async function run(args: readonly string[]): Promise<number> {
  try {
    const { command, words, flags } = parseLine(args, [...commands, createHelp(commands)])
    if (flags.has('help')) {
      await print(commandHelp(command))
      return 0
    }
    const json = flags.has('json')
    const code = await command.run({ words, flags, json, env: process.env, nowMs: Date.now() })
    return code ?? 0
  } catch (error) {
    // The reader of a pipe, such as `head`, has seen enough.
    if (error instanceof Error && 'code' in error && error.code === 'EPIPE') return 0
    say(`tollgate: ${describe(error)}`)
    return error instanceof UsageError ? 2 : 1
  }
}

/** One line, but for a configuration, whose every problem has one. */
function describe(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return error instanceof ConfigError ? text : (text.split('\n', 1)[0] ?? '')
}

// `print` reports it too; unheard here it would end the process with a stack trace.
process.stdout.on('error', () => undefined)
process.exitCode = await run(process.argv.slice(2))
