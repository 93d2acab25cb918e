// Tests how often a check goes through all models: the number must not grow with the number of channels, or the time
// would grow with the square of the file.

import { expect, test } from 'bun:test'
import type { ChannelConfig, Config, ModelConfig } from '../config/types.ts'
import { checkConfiguration } from './check-configuration.ts'
import { loadConfiguration } from './configuration.ts'

const plain = await loadConfiguration({ flags: {}, env: {} })
const prices = { input: '1', output: '2' }
const model = { kind: null, context: null, maxOutput: null, vision: null, ownedBy: null, prices }
const channel = {
  vendor: 'openai',
  baseUrl: null,
  key: 'k',
  priority: 0,
  weight: 1,
  disabled: false,
  dialect: null,
  timeouts: {},
  options: {},
  origin: 'file',
} as const

/** A configuration of this many models and channels; every second channel serves only one group. */
function configOf(count: number): Config {
  const each = Array.from({ length: count }, (_, at) => at)
  const models: readonly (readonly [string, ModelConfig])[] = each.flatMap((at) => [
    [`m${at}`, { ...model, timeouts: {} }],
    [`p${at}-*`, { ...model, timeouts: {} }],
  ])
  const channels = each.map(
    (at): ChannelConfig => ({
      ...channel,
      id: `c${at}`,
      models: { [`m${at}`]: 'gpt-4o', [`p${at}-*`]: 'gpt-*' },
      groups: at % 2 === 0 ? null : ['vip'],
    }),
  )
  const group = { multiplier: '1', limits: {}, models: ['m*', 'p1-*', 'm0'] }
  const groups = { vip: { ...group, id: 'vip' } }
  return { ...plain, models: Object.fromEntries(models), channels, groups }
}

/** How often the list of its models is read while the configuration is checked. */
function listings(count: number): number {
  const config = configOf(count)
  let times = 0
  const models = new Proxy(config.models, {
    ownKeys(target) {
      times += 1
      return Reflect.ownKeys(target)
    },
  })
  expect(checkConfiguration({ ...config, models }, null).problems).toEqual([])
  return times
}

test('a check lists the models of a file as often for many channels as for few', () => {
  const few = listings(4)
  expect(few).toBeGreaterThan(0)
  expect(listings(60)).toBe(few)
})
