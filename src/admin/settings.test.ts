// Tests settings that change at run time: which value takes precedence, who may change what, and which values are
// refused.

import { expect, test } from 'bun:test'
import { onEachEngine } from '../../test/contract/engines.ts'
import { adminOf, nowMs } from '../../test/support/admin.ts'
import { runTimeNames, settingsInForce } from '../config/run-time.ts'
import { loadConfiguration } from './configuration.ts'
import { readInput } from './input.ts'
import { listSettings, noticesAt, setSetting, unsetSetting } from './settings.ts'

const silent = await loadConfiguration({ flags: {}, env: {} })
const config = {
  ...silent,
  identity: { ...silent.identity, signUp: 'closed' as const },
  groups: { ...silent.groups, team: { id: 'team', multiplier: '1', models: ['*'], limits: {} } },
}

onEachEngine('settings', (start) => {
  test('the word of the file stands above what is set, and that above the default', async () => {
    const { store } = await start()
    const admin = adminOf(store)
    const set = async (name: string, value: unknown) =>
      setSetting(admin, config, await readInput('setSetting', { name, value }))
    const before = await listSettings(admin, config)
    expect(before.items.map(({ name }) => name)).toEqual([...runTimeNames])
    expect(before.items[0]).toMatchObject({ value: 'closed', default: 'open', declared: true })
    expect(await set('usage.keepDays', '90')).toMatchObject({
      value: 90,
      default: null,
      declared: false,
      actor: 'op',
      changedAt: new Date(nowMs).toISOString(),
    })
    await expect(set('identity.signUp', 'open')).rejects.toMatchObject({
      refusal: 'conflict',
      field: 'name',
      message: 'identity.signUp is set in the configuration file: change it there',
    })
    const unset = await readInput('unsetSetting', { name: 'usage.keepDays' })
    expect(await unsetSetting(admin, config, unset)).toMatchObject({ value: null, revision: 0 })
  })

  test('who read too early is refused', async () => {
    const { store } = await start()
    const admin = adminOf(store)
    const input = await readInput('setSetting', {
      name: 'history.mode',
      value: 'full',
      revision: 0,
    })
    const { revision } = await setSetting(admin, silent, input)
    await expect(setSetting(admin, silent, input)).rejects.toMatchObject({ refusal: 'stale' })
    await expect(
      unsetSetting(admin, silent, { name: 'history.mode', revision: revision + 1 }),
    ).rejects.toMatchObject({ refusal: 'stale' })
    expect(await listSettings(admin, silent)).toMatchObject({
      items: [{}, {}, {}, { value: 'full' }, {}, {}, {}],
    })
  })

  test('a group of new accounts is one there is, and the default where it is gone', async () => {
    const { store } = await start()
    const admin = adminOf(store)
    await store.deployment.rememberGroups(Object.keys(config.groups))
    const name = 'identity.defaultGroup' as const
    await expect(setSetting(admin, config, { name, value: 'tem' })).rejects.toMatchObject({
      refusal: 'invalid',
      field: 'value',
      message: 'unknown group; expected one of default, team',
    })
    expect(await setSetting(admin, config, { name, value: 'team' })).toMatchObject({
      value: 'team',
    })
    expect(settingsInForce(silent, { [name]: 'team' })[name]).toBe('default')
  })
})

test('each value is held to what the file is held to, and the field at fault is named', async () => {
  const notice = {
    text: { en: 'Back at ten.' },
    from: '2027-01-31',
    until: '2027-02-01T08:00:00+01:00',
  }
  const read = (name: string, value: unknown) => readInput('setSetting', { name, value })
  expect((await read('notices', [notice])).value).toEqual([
    {
      severity: 'info',
      text: notice.text,
      from: '2027-01-31T00:00:00.000Z',
      until: '2027-02-01T07:00:00.000Z',
    },
  ])
  for (const [name, value, field, message] of [
    ['usage', 1, 'name', `expected one of ${runTimeNames.join(', ')}`],
    ['usage.keepDays', 0, 'value', 'expected a whole number from 1 to 3650'],
    ['identity.signUp', 'opne', 'value', 'expected one of open, invite, closed'],
    ['notices', 'hello', 'value', 'expected a list of notices'],
    ['notices', [notice, { text: {} }], 'value[1].text', 'expected at least one language'],
    ['notices', [{ text: { en: ' ' } }], 'value[0].text.en', 'must not be empty'],
    [
      'notices',
      [{ ...notice, until: notice.from }],
      'value[0].until',
      'expected a time after from',
    ],
    ['notices', Array(21).fill(notice), 'value', 'expected at most 20 notices'],
  ] as const) {
    await expect(read(name, value)).rejects.toMatchObject({ refusal: 'invalid', field, message })
  }
  await expect(readInput('setSetting', { name: 'notices' })).rejects.toMatchObject({
    field: 'value',
  })
})

test('a notice is shown from its beginning until its end', () => {
  const at = (time: string) => Date.parse(time)
  const notice = { severity: 'info' as const, text: { en: 'x' }, from: null, until: null }
  const timed = { ...notice, from: '2027-01-01T00:00:00.000Z', until: '2027-01-02T00:00:00.000Z' }
  const notices = [notice, timed]
  expect(noticesAt({ notices }, at('2026-12-31T23:59:59Z'))).toEqual([notice])
  expect(noticesAt({ notices }, at('2027-01-01T00:00:00Z'))).toEqual(notices)
  expect(noticesAt({ notices }, at('2027-01-02T00:00:00Z'))).toEqual([notice])
})
