// Tests that settings changed at run time take effect in a running process.

import { expect, test } from 'bun:test'
import { onEachEngine } from '../../test/contract/engines.ts'
import { eventually } from '../../test/support/ledger-node.ts'
import { loadConfiguration } from '../admin/configuration.ts'
import { runTimeDefaults } from '../config/run-time.ts'
import { RunTime } from './run-time.ts'

const silent = await loadConfiguration({ flags: {}, env: {} })
const change = { actor: null, changedAt: 1 }

onEachEngine('settings at run time', (start) => {
  test('what another process set counts here, unless the file says it', async () => {
    const { store, open } = await start()
    const other = await open()
    await other.settings.set({ ...change, name: 'usage.keepDays', value: 90 })
    const runTime = await RunTime.open(store.settings, silent)
    expect(runTime.current()).toEqual({ ...runTimeDefaults, 'usage.keepDays': 90 })
    const watch = runTime.watch({
      onError: (error) => expect.unreachable(String(error)),
      busy: () => true,
    })
    await other.settings.set({ ...change, name: 'history.mode', value: 'full' })
    await other.settings.set({ ...change, name: 'of a newer version', value: 1 })
    const mode = () => runTime.current()['history.mode']
    await eventually('the change counts', () => mode() === 'full')
    runTime.take({
      ...silent,
      history: { ...silent.history, mode: 'metadata' },
      usage: { ...silent.usage, keepDays: 7 },
    })
    expect(runTime.current()).toMatchObject({ 'history.mode': 'metadata', 'usage.keepDays': 7 })
    runTime.take(silent)
    await other.settings.unset('history.mode')
    await eventually('the default counts', () => mode() === 'off')
    expect(runTime.current()['usage.keepDays']).toBe(90)
    watch.close()
  })
})
