// `tollgate what-if`: computes what past requests would cost now.

import { readInput } from '../admin/input.ts'
import { formatUnits } from '../money.ts'
import type { Command } from './command.ts'
import { offered } from './model.ts'
import { print, printJson, say, table } from './output.ts'

const reasons = {
  model: 'their group does not have the model',
  group: 'their group is no more',
  kind: 'the model does not answer such requests',
  units: 'the model has no price for what was counted',
} as const

export const whatIfCommand: Command = {
  name: 'what-if',
  words: [],
  summary: 'say what past requests would cost now, by another model or in another group',
  options: {
    account: { type: 'string', value: 'NAME', help: 'only of this account' },
    key: { type: 'string', value: 'ID', help: 'only of this key' },
    days: { type: 'string', value: 'N', help: 'how far back, up to 90; 30 unless said' },
    model: { type: 'string', value: 'MODEL', help: 'the model to ask; the same unless said' },
    group: { type: 'string', value: 'GROUP', help: 'the group to be in; the same unless said' },
  },
  async run(context) {
    const { flags } = context
    const names = ['account', 'key', 'model', 'group'] as const
    const input = await readInput('whatIf', {
      ...Object.fromEntries(names.map((name) => [name, flags.text(name)])),
      days: flags.number('days'),
    })
    const { whatIf } = await import('../admin/what-if.ts')
    const found = await offered(context, (offer, viewer, admin) =>
      whatIf(admin, offer, viewer, input),
    )
    if (context.json) {
      await printJson(found)
      return undefined
    }
    const total = { key: 'all', keyName: null, ...found.total }
    const cells = [...found.keys, total].map((sum) => [
      sum.key,
      sum.keyName,
      sum.requests,
      ...[sum.thenNano, sum.nowNano, sum.differenceNano].map((nano) => formatUnits(BigInt(nano))),
    ])
    await print(table(['KEY', 'NAME', 'REQUESTS', 'THEN', 'NOW', 'DIFFERENCE'], cells))
    for (const { reason, requests } of found.unpriced)
      say(`${requests} requests are not in it: ${reasons[reason]}`)
    if (!found.exact) say('an estimate: another model counts tokens otherwise')
    if (found.coveredSince !== null)
      say(`only requests since ${found.coveredSince} were looked at: there are too many`)
    return undefined
  },
}
