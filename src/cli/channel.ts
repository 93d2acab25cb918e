// `tollgate channel`: the channels in force, a test call to one of them, and its vendor's models.

import { describeConfig } from '../config/describe.ts'
import type { ChannelConfig } from '../config/types.ts'
import type { Command } from './command.ts'
import { print, printJson, say, table } from './output.ts'
import { loadWithChannels } from './settings.ts'

export const channelList: Command = {
  name: 'channel list',
  words: [],
  summary: 'list the channels in force, keys masked',
  options: {},
  async run(context) {
    const config = await loadWithChannels(context)
    const { channels } = config
    if (context.json) {
      await printJson(describeConfig(config).channels)
      return undefined
    }
    const headings = ['ID', 'VENDOR', 'PRIORITY', 'WEIGHT', 'STATUS', 'FROM', 'MODELS']
    const cells = channels.map((channel) => [
      channel.id,
      channel.vendor,
      channel.priority,
      channel.weight,
      statusOf(channel),
      channel.origin,
      channel.models === null ? null : Object.keys(channel.models).join(','),
    ])
    await print(table(headings, cells))
    return undefined
  },
}

function statusOf({ disabled, state }: ChannelConfig): string {
  if (!disabled) return 'enabled'
  return state === 'draining' ? 'draining' : 'disabled'
}

export const channelTest: Command = {
  name: 'channel test',
  words: ['ID'],
  summary: 'make one small call to a channel',
  options: {
    model: { type: 'string', value: 'NAME', help: 'the model to call; by default the first' },
  },
  async run(context) {
    const [id = ''] = context.words
    const { testChannel } = await import('../admin/channels.ts')
    const model = context.flags.text('model')
    const config = await loadWithChannels(context)
    const { exchange: _, ...result } = await testChannel(config, { id, model })
    if (context.json) await printJson({ channel: id, ...result })
    else say(`${id}: ${result.ok ? 'ok' : 'failed'} in ${result.durationMs} ms. ${result.message}`)
    return result.ok ? undefined : 1
  },
}

export const channelModels: Command = {
  name: 'channel models',
  words: ['ID'],
  summary: "list the models that a channel's vendor itself lists",
  options: {},
  async run(context) {
    const [id = ''] = context.words
    const { listVendorModels } = await import('../admin/channels.ts')
    const found = await listVendorModels(await loadWithChannels(context), { id })
    if (context.json) await printJson(found)
    else {
      const cells = found.models.map(({ model, name, kind, context: window, problem }) => [
        model,
        name,
        kind,
        window,
        problem ?? 'yes',
      ])
      await print(table(['MODEL', 'NAME', 'KIND', 'CONTEXT', 'ANSWERED'], cells))
    }
    return undefined
  },
}
