// `tollgate codes`: redemption codes, made in batches, listed and revoked.

import { readInput } from '../admin/input.ts'
import {
  createRedemptionBatch,
  listRedemptionBatches,
  revokeRedemptionBatch,
} from '../admin/redemption.ts'
import { formatUnits } from '../money.ts'
import type { Command } from './command.ts'
import { print, printJson, say, table } from './output.ts'
import { actor } from './price.ts'
import { withChange, withStore } from './settings.ts'

export const codesCreate: Command = {
  name: 'codes create',
  words: ['COUNT', 'AMOUNT'],
  summary: 'create redemption codes for credit; they are printed only once',
  options: {
    note: { type: 'string', value: 'TEXT', help: 'what they are for; kept with the batch' },
    expires: { type: 'string', value: 'TIME', help: 'when they expire' },
    actor,
  },
  fields: { codes: 'COUNT', amount: 'AMOUNT', expiresAt: 'expires' },
  async run(context) {
    const { words, flags } = context
    const [count = '', amount = ''] = words
    const input = await readInput('createRedemptionBatch', {
      codes: /^\d+$/.test(count) ? Number(count) : Number.NaN,
      amount,
      note: flags.text('note'),
      expiresAt: flags.text('expires'),
    })
    const made = await withChange(
      context,
      (admin) => createRedemptionBatch(admin, input),
      () => ({ action: 'createRedemptionBatch', detail: input }),
    )
    if (context.json) await printJson(made)
    else {
      await print(made.secrets.map((code) => `${code}\n`).join(''))
      say(`Batch ${made.id}: the codes are shown only once.`)
    }
    return undefined
  },
}

export const codesList: Command = {
  name: 'codes list',
  words: [],
  summary: 'list the batches of redemption codes and how many were redeemed, newest first',
  options: {
    limit: { type: 'string', value: 'N', help: 'at most this many; 50 by default' },
  },
  async run(context) {
    const input = await readInput('listRedemptionBatches', { limit: context.flags.number('limit') })
    const { items } = await withStore(context, (admin) => listRedemptionBatches(admin, input))
    if (context.json) await printJson(items)
    else {
      const headings = [
        'BATCH',
        'EACH',
        'CODES',
        'REDEEMED',
        'CREATED',
        'EXPIRES',
        'REVOKED',
        'NOTE',
      ]
      const cells = items.map((each) => [
        each.id,
        `${formatUnits(BigInt(each.amountNano))} ${each.currency}`,
        each.codes,
        each.redeemed,
        each.createdAt,
        each.expiresAt,
        each.revokedAt,
        each.note,
      ])
      await print(table(headings, cells))
    }
    return undefined
  },
}

export const codesRevoke: Command = {
  name: 'codes revoke',
  words: ['BATCH'],
  summary: 'revoke the codes of a batch that were not redeemed',
  options: { actor },
  fields: { id: 'BATCH' },
  hints: { 'not_found id': '; `tollgate codes list` lists them' },
  async run(context) {
    const input = await readInput('redemptionBatch', { id: context.words[0] })
    const revoked = await withChange(
      context,
      (admin) => revokeRedemptionBatch(admin, input),
      () => ({ action: 'revokeRedemptionBatch', target: input }),
    )
    if (context.json) await printJson(revoked)
    else say(`${revoked.id}: its remaining codes are revoked.`)
    return undefined
  },
}
