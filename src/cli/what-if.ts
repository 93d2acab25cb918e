// `tollgate what-if`: computes what past requests would cost now.

import { readInput } from '../admin/input.ts'
import { formatUnits } from '../money.ts'
import type { Command } from './command.ts'
import { offered } from './model.ts'
import { print, printJson, say, table } from './output.ts'

const reasons = {
  model: 'their group may not use the model',
  group: 'their group is no more',
  kind: 'the model does not answer this kind of request',
  units: 'the model has no price for the counted units',
} as const

export const whatIfCommand: Command = {
  name: 'what-if',
  words: [],
  summary: 'calculate what past requests would cost now, with another model or in another group',
  options: {
    account: { type: 'string', value: 'NAME', help: 'only of this account' },
    key: { type: 'string', value: 'ID', help: 'only of this key' },
    days: { type: 'string', value: 'N', help: 'how many days back, up to 90; 30 by default' },
    model: {
      type: 'string',
      value: 'MODEL',
      help: 'the model to use instead; the same by default',
    },
    group: {
      type: 'string',
      value: 'GROUP',
      help: 'the group to be in instead; the same by default',
    },
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
      say(`${requests} requests are not included: ${reasons[reason]}`)
    if (!found.exact) say('an estimate: another model counts tokens differently')
    if (found.coveredSince !== null)
      say(
        `only requests since ${found.coveredSince} were included: there are more than can be read`,
      )
    return undefined
  },
}
