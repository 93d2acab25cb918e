// Tests which channels serve which models to whom.

import { expect, test } from 'bun:test'
import type { ChannelConfig, GroupSettings } from '../config/types.ts'
import type { ClientDialectId, VendorDialectId } from '../wire/formats.ts'
import { createDirectory } from './directory.ts'

const channel = (id: string, more: Partial<ChannelConfig> = {}): ChannelConfig => ({
  id,
  vendor: 'openai',
  baseUrl: null,
  key: null,
  models: null,
  groups: null,
  priority: 0,
  weight: 1,
  disabled: false,
  dialect: null,
  timeouts: {},
  options: {},
  origin: 'file',
  ...more,
})
const groupOf = (id: string, models: readonly string[] = ['*']): GroupSettings => ({
  id,
  multiplier: '1',
  models,
  limits: {},
})

const catalogue: Record<string, readonly string[]> = {
  openai: ['gpt-4o', 'gpt-4o-mini', 'text-embedding-3-small'],
  sandbox: ['sandbox/echo', 'sandbox/*'],
}
const spoken: Record<string, readonly VendorDialectId[]> = {
  openai: ['openai-chat', 'openai-completions', 'openai-embeddings'],
  sandbox: ['openai-chat'],
}

function directory(channels: readonly ChannelConfig[], groups = [groupOf('default')]) {
  return createDirectory({
    channels,
    groups: Object.fromEntries(groups.map((each) => [each.id, each])),
    speaks: (vendor) => spoken[vendor] ?? [],
    vendorModels: (vendor) => catalogue[vendor] ?? [],
  })
}

const hubbed = (from: ClientDialectId, to: VendorDialectId) =>
  from === 'openai-completions' && to === 'openai-chat'
const served = (
  made: ReturnType<typeof directory>,
  model: string,
  group = 'default',
  dialect: ClientDialectId = 'openai-chat',
) => made.candidates(group, model, dialect, hubbed).map((each) => `${each.channelId}:${each.model}`)

test("a channel without models serves its vendor's catalogue", () => {
  const made = directory([channel('a')])
  expect(made.models('default')).toEqual(['gpt-4o', 'gpt-4o-mini', 'text-embedding-3-small'])
  expect(made.candidates('default', 'gpt-4o', 'openai-chat', hubbed)).toEqual([
    {
      channelId: 'a',
      model: 'gpt-4o',
      dialect: 'openai-chat',
      identity: true,
      priority: 0,
      weight: 1,
    },
  ])
  expect(served(made, 'gpt-5')).toEqual([])
})

test('names are mapped; the exact name wins, then the longest pattern; a pattern keeps the name', () => {
  const models = { 'gpt-4o': 'deployment-1', 'gpt-4*': 'gpt-4*', 'gpt-*': 'catch-all', '*': '*' }
  const made = directory([channel('a', { models }), channel('b', { models: { 'gpt-4o': 'x' } })])
  expect(served(made, 'gpt-4o')).toEqual(['a:deployment-1', 'b:x'])
  expect(served(made, 'gpt-4.1')).toEqual(['a:gpt-4.1'])
  expect(served(made, 'gpt-5')).toEqual(['a:catch-all'])
  expect(served(made, 'claude')).toEqual(['a:claude'])
  const own = directory([channel('c', { models: { 'acme/*': '*', 'my-*': 'deployed-*' } })])
  expect(served(own, 'acme/gpt-5')).toEqual(['c:gpt-5'])
  expect(served(own, 'my-model')).toEqual(['c:deployed-model'])
  expect(made.models('default')).toEqual(['gpt-4o', 'gpt-4o-mini', 'text-embedding-3-small'])
  const prototype = directory([channel('a', { models: { real: 'real' } })])
  for (const name of ['constructor', '__proto__', 'toString'])
    expect(served(prototype, name)).toEqual([])
})

test("settings after a plus are covered by the vendor's pattern, and never listed", () => {
  const made = directory([channel('s', { vendor: 'sandbox' })])
  expect(served(made, 'sandbox/echo+delay=20')).toEqual(['s:sandbox/echo+delay=20'])
  expect(made.models('default')).toEqual(['sandbox/echo'])
})

test('groups: a channel of some, a group of some models, an unknown group', () => {
  const made = directory(
    [channel('all'), channel('paid', { groups: ['paid'] })],
    [groupOf('default', ['gpt-4o*']), groupOf('paid'), groupOf('none', [])],
  )
  expect(served(made, 'gpt-4o')).toEqual(['all:gpt-4o'])
  expect(served(made, 'gpt-4o', 'paid')).toEqual(['all:gpt-4o', 'paid:gpt-4o'])
  expect(served(made, 'text-embedding-3-small', 'default', 'openai-embeddings')).toEqual([])
  expect(made.models('default')).toEqual(['gpt-4o', 'gpt-4o-mini'])
  expect(made.models('none')).toEqual([])
  expect(served(made, 'gpt-4o', 'nobody')).toEqual([])
  expect(made.models('nobody')).toEqual([])
})

test('disabled channels and unknown vendors are absent', () => {
  const made = directory([
    channel('off', { disabled: true }),
    channel('odd', { vendor: 'nobody', models: { 'gpt-4o': 'gpt-4o' } }),
  ])
  expect(served(made, 'gpt-4o')).toEqual([])
  expect(made.models('default')).toEqual([])
})

test("the client's dialect is spoken where it can be, else one the hub reaches, else the channel is out", () => {
  const made = directory([channel('any'), channel('chat-only', { dialect: 'openai-chat' })])
  const [first, second] = made.candidates('default', 'gpt-4o', 'openai-completions', hubbed)
  expect(first).toMatchObject({ channelId: 'any', dialect: 'openai-completions', identity: true })
  expect(second).toMatchObject({ channelId: 'chat-only', dialect: 'openai-chat', identity: false })
  expect(served(made, 'gpt-4o', 'default', 'openai-embeddings')).toEqual(['any:gpt-4o'])
})

test('answers are remembered, and what is remembered is bounded', () => {
  const made = directory([channel('a', { models: { '*': '*' } })])
  const first = made.candidates('default', 'x', 'openai-chat', hubbed)
  expect(made.candidates('default', 'x', 'openai-chat', hubbed)).toBe(first)
  for (let n = 0; n < 10_000; n += 1) served(made, `x${n}`)
  const again = made.candidates('default', 'x', 'openai-chat', hubbed)
  expect(again).not.toBe(first)
  expect(again).toEqual(first)
})

test('a channel with several keys is asked with each that is in use, its weight shared', () => {
  const keys = ['a', 'b', 'c'].map((name) => ({ name, key: `k-${name}`, disabled: name === 'b' }))
  const made = directory([
    channel('main', { keys, weight: 3, costMultiplier: '0.8' }),
    channel('none', { keys: keys.map((key) => ({ ...key, disabled: true })) }),
  ])
  const found = made.candidates('default', 'gpt-4o', 'openai-chat', hubbed)
  expect(found.map(({ channelId, lane, weight }) => [channelId, lane, weight])).toEqual([
    ['main', undefined, 1.5],
    ['main', 'main#c', 1.5],
  ])
  expect(found.map(({ costPpm }) => costPpm)).toEqual([800_000, 800_000])
})

test('channels stand in the order of the configuration, whichever way each serves a name', () => {
  const groups = [groupOf('default'), groupOf('vip'), groupOf('few', ['gpt-4o'])]
  const made = directory(
    [
      channel('pattern', { models: { 'gpt-*': 'own-*' }, groups: ['vip'] }),
      channel('all'),
      channel('longer', { models: { 'gpt-4*': 'x', 'gpt-*': 'y' } }),
      channel('twice', { models: { 'gpt-4o': 'z' }, groups: ['vip', 'vip', 'few'] }),
      channel('all too', { groups: ['few', 'vip'] }),
      channel('other', { models: { 'gpt-5': 'gpt-5' } }),
    ],
    groups,
  )
  const names = ['pattern:own-4o', 'all:gpt-4o', 'longer:x', 'twice:z', 'all too:gpt-4o']
  expect(served(made, 'gpt-4o', 'vip')).toEqual(names)
  expect(served(made, 'gpt-4o')).toEqual(['all:gpt-4o', 'longer:x'])
  expect(served(made, 'gpt-4o', 'few')).toEqual(names.slice(1))
  expect(served(made, 'gpt-5', 'few')).toEqual([])
  expect(served(made, 'gpt-5', 'vip')).toEqual(['pattern:own-5', 'longer:y', 'other:gpt-5'])
  expect(made.models('few')).toEqual(['gpt-4o'])
  expect(made.models('vip')).toEqual(['gpt-4o', 'gpt-4o-mini', 'gpt-5', 'text-embedding-3-small'])
})
