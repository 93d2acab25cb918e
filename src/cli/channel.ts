// `tollgate channel`: the channels in force, and a call to one of them.

import { describeConfig } from '../config/describe.ts'
import { suggestion } from '../config/problems.ts'
import type { Config } from '../config/types.ts'
import type { Command } from './command.ts'
import { print, printJson, say, table } from './output.ts'
import { loadWithChannels } from './settings.ts'

/** What a call to a channel showed. */
export interface ProbeResult {
  readonly ok: boolean
  /** The vendor's own name of the model that was called. */
  readonly model: string | null
  readonly durationMs: number
  /** In a sentence, without secrets. */
  readonly message: string
}

/** Makes one small call to the channel. */
export type TestChannel = (config: Config, id: string) => Promise<ProbeResult>

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
      channel.disabled ? 'disabled' : 'enabled',
      channel.origin,
      channel.models === null ? null : Object.keys(channel.models).join(','),
    ])
    await print(table(headings, cells))
    return undefined
  },
}

/** `load` brings the call itself only when it is wanted. */
export function channelTest(load: () => Promise<TestChannel>): Command {
  return {
    name: 'channel test',
    words: ['ID'],
    summary: 'make one small call to a channel',
    options: {},
    async run(context) {
      const [id = ''] = context.words
      const config = await loadWithChannels(context)
      const ids = config.channels.map((channel) => channel.id)
      if (!ids.includes(id)) {
        throw new Error(`there is no channel ${JSON.stringify(id)}${suggestion(id, ids)}`)
      }
      const testChannel = await load()
      const result = await testChannel(config, id)
      if (context.json) await printJson({ channel: id, ...result })
      else
        say(`${id}: ${result.ok ? 'ok' : 'failed'} in ${result.durationMs} ms. ${result.message}`)
      return result.ok ? undefined : 1
    },
  }
}
