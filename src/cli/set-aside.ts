// `tollgate set-aside`: records that the ledger refused to settle, which an operator settles again or discards.

import { readInput } from '../admin/input.ts'
import { discardSetAside, listSetAsides, settleSetAside } from '../admin/set-aside.ts'
import { formatUnits } from '../money.ts'
import type { Command, Context } from './command.ts'
import { print, printJson, say, table } from './output.ts'
import { actor } from './price.ts'
import { withChange, withStore } from './settings.ts'

const shared = {
  words: ['REQUEST'],
  fields: { id: 'REQUEST' },
  hints: { 'not_found id': '; `tollgate set-aside list` lists them' },
}

export const setAsideList: Command = {
  name: 'set-aside list',
  words: [],
  summary: 'list the records that the ledger refused to settle and that still hold money',
  options: { limit: { type: 'string', value: 'N', help: 'at most this many; 50 by default' } },
  async run(context) {
    const input = await readInput('listSetAsides', { limit: context.flags.number('limit') })
    const { items } = await withStore(context, (admin) => listSetAsides(admin, input))
    if (context.json) await printJson(items)
    else {
      const cells = items.map((each) => [
        each.requestId,
        each.account,
        formatUnits(BigInt(each.heldNano)),
        each.costNano === null ? null : formatUnits(BigInt(each.costNano)),
        each.at,
        each.reason,
      ])
      await print(table(['REQUEST', 'ACCOUNT', 'HELD', 'COST', 'AT', 'REASON'], cells))
    }
    return undefined
  },
}

export const setAsideSettle: Command = {
  ...shared,
  name: 'set-aside settle',
  summary: 'settle such a record after all, once the cause of its refusal is gone',
  options: { actor },
  async run(context) {
    const input = await readInput('settleSetAside', { id: context.words[0] })
    const done = await withChange(
      context,
      (admin) => settleSetAside(admin, input),
      eventOf('settleSetAside'),
    )
    return confirm(context, done)
  },
}

export const setAsideDiscard: Command = {
  ...shared,
  name: 'set-aside discard',
  summary: 'release what such a record holds, without charging it',
  options: {
    reason: { type: 'string', value: 'TEXT', help: 'why; kept with the record' },
    actor,
  },
  async run(context) {
    const reason = context.flags.text('reason')
    const input = await readInput('discardSetAside', { id: context.words[0], reason })
    const done = await withChange(
      context,
      (admin) => discardSetAside(admin, input),
      eventOf('discardSetAside', { reason }),
    )
    return confirm(context, done)
  },
}

type Done = Awaited<ReturnType<typeof settleSetAside>>

function eventOf(action: string, detail: object = {}) {
  return ({ requestId, changed, releasedNano, chargeNano, writeoffNano }: Done) =>
    changed
      ? {
          action,
          target: { id: requestId },
          detail: { ...detail, releasedNano, chargeNano, writeoffNano },
        }
      : null
}

async function confirm({ json }: Context, done: Done): Promise<undefined> {
  const { requestId, outcome, changed, currency } = done
  if (json) await printJson(done)
  else if (!changed) say(`${requestId} was ${outcome} before, nothing changed.`)
  else {
    const amount = (nano: string) => `${formatUnits(BigInt(nano))} ${currency}`
    const charged = `, charged ${amount(done.chargeNano)}, written off ${amount(done.writeoffNano)}`
    say(
      `${requestId} ${outcome}: released ${amount(done.releasedNano)}${outcome === 'settled' ? charged : ''}.`,
    )
  }
  return undefined
}
