// `tollgate request`: shows one request with its receipt, lists requests under way, and stops one.

import { readInput } from '../admin/input.ts'
import { listRunning, stopRequest } from '../admin/running.ts'
import { showRequest } from '../admin/usage.ts'
import { formatUnits } from '../money.ts'
import type { Command } from './command.ts'
import { print, printJson, say, table } from './output.ts'
import { withChange, withStore } from './settings.ts'

export const requestRunning: Command = {
  name: 'request running',
  words: [],
  summary: 'list running requests, oldest first',
  options: { account: { type: 'string', value: 'A', help: 'only of this account' } },
  async run(context) {
    const input = await readInput('listRunning', { account: context.flags.text('account') })
    const { items } = await withStore(context, (admin) => listRunning(admin, input))
    if (context.json) {
      await printJson(items)
      return undefined
    }
    const cells = items.map((each) => [
      each.requestId,
      each.account,
      each.keyName,
      each.model,
      each.channel ?? null,
      each.ageMs,
      each.ttftMs,
      each.inputTokens,
      each.outputTokens,
      formatUnits(BigInt(each.costNano)),
    ])
    const headings = ['REQUEST', 'ACCOUNT', 'KEY', 'MODEL', 'CHANNEL', 'AGE MS', 'TTFT MS']
    await print(table([...headings, 'IN', 'OUT', 'COST'], cells))
    return undefined
  },
}

export const requestStop: Command = {
  name: 'request stop',
  words: ['ID'],
  summary: 'stop a running request; what was delivered is charged',
  options: {},
  hints: { 'not_found id': '; `tollgate request running` lists those that do' },
  async run(context) {
    const [id = ''] = context.words
    const input = await readInput('stopRequest', { id })
    const stopped = await withChange(
      context,
      (admin) => stopRequest(admin, input),
      () => ({ action: 'stopRequest', target: { id } }),
    )
    if (context.json) await printJson(stopped)
    else say(`Request ${id} stopped.`)
    return undefined
  },
}

type Shown = Awaited<ReturnType<typeof showRequest>>

export const requestShow: Command = {
  name: 'request show',
  words: ['ID'],
  summary: 'show a request with its receipt, its attempts, and who caused a failure',
  options: {},
  hints: { 'not_found id': '; `tollgate usage` lists them' },
  async run(context) {
    const [id = ''] = context.words
    const input = await readInput('showRequest', { id })
    const shown = await withStore(context, (admin) => showRequest(admin, input))
    if (context.json) await printJson(shown)
    else await print(textOf(shown))
    return undefined
  },
}

function textOf(shown: Shown): string {
  const { blame } = shown
  const parts = [factsOf(shown), receiptText(shown), attemptsText(shown)]
  if (blame !== null) parts.push(`${blame.message} ${blame.next}\n`)
  return parts.filter((part) => part !== '').join('\n')
}

function factsOf(shown: Shown): string {
  const { requestId, at, account, keyName, model, modelServed, status, durationMs, ttftMs } = shown
  return table(
    ['REQUEST', 'AT', 'ACCOUNT', 'KEY', 'MODEL', 'SERVED', 'STATUS', 'TTFT MS', 'MS'],
    [[requestId, at, account, keyName, model, modelServed, status, ttftMs, durationMs]],
  )
}

function receiptText({ receipt, currency }: Shown): string {
  if (receipt === null) return ''
  const units = (nano: string) => formatUnits(BigInt(nano))
  const rows = receipt.lines.map(({ item, count, priceNano, amountNano }) => [
    item,
    count,
    units(priceNano),
    receipt.multiplier,
    units(amountNano),
  ])
  const sums = [
    ['rounding', receipt.roundingNano],
    ['total', receipt.totalNano],
    ['charged', receipt.chargeNano],
    ['written off', receipt.writeoffNano],
    ['held', receipt.heldNano],
  ].map(([name = '', nano = '0']) => [name, '', '', '', units(nano)])
  return table(['ITEM', 'COUNT', 'PER MILLION', 'MULTIPLIER', currency], [...rows, ...sums])
}

function attemptsText({ attemptList }: Shown): string {
  if (attemptList.length === 0) return ''
  const cells = attemptList.map((attempt) => [
    attempt.channel,
    attempt.kind ?? attempt.outcome,
    attempt.status ?? null,
    attempt.startMs ?? null,
    attempt.firstByteMs ?? null,
    attempt.durationMs ?? null,
    attempt.then ?? null,
  ])
  return table(['CHANNEL', 'OUTCOME', 'STATUS', 'FROM MS', 'FIRST MS', 'MS', 'THEN'], cells)
}
