// `tollgate channel`: the channels in force, and a call to one of them.

import { describeConfig } from '../config/describe.ts'
import { suggestion } from '../config/problems.ts'
import type { ChannelConfig, Config } from '../config/types.ts'
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

/** A model as the vendor names it, and what becomes of a request for it. */
export interface VendorModel {
  readonly model: string
  /** What callers ask for; null: the channel does not serve it. */
  readonly name: string | null
  readonly kind: string
  readonly context: number | null
  /** Why a request would not be answered; null: it would be. */
  readonly problem: string | null
}

/** Asks the channel's vendor for its models. Throws where they cannot be had. */
export type ListModels = (config: Config, channel: ChannelConfig) => Promise<readonly VendorModel[]>

/** `load` brings the call itself only when it is wanted. */
export function channelModels(load: () => Promise<ListModels>): Command {
  return {
    name: 'channel models',
    words: ['ID'],
    summary: "list the models of a channel's vendor, by the vendor's own list",
    options: {},
    async run(context) {
      const [id = ''] = context.words
      const config = await loadWithChannels(context)
      const channel = config.channels.find((each) => each.id === id)
      if (channel === undefined) {
        const near = suggestion(
          id,
          config.channels.map((each) => each.id),
        )
        throw new Error(`there is no channel ${JSON.stringify(id)}${near}`)
      }
      const models = await (await load())(config, channel)
      if (context.json) await printJson({ channel: id, vendor: channel.vendor, models })
      else {
        const cells = models.map(({ model, name, kind, context: window, problem }) => [
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
}
