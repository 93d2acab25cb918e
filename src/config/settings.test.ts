// Tests the flags and environment variables of the console.

import { expect, test } from 'bun:test'
import type { Problem } from './problems.ts'
import { type Environment, type Flags, readOverride } from './settings.ts'

function read(flags: Flags, env: Environment) {
  const problems: Problem[] = []
  return { console: readOverride(flags, env, problems).console, problems }
}

test('the console is as the flag says, else the variable, else the file', () => {
  expect(read({}, {})).toEqual({ console: undefined, problems: [] })
  for (const [word, is] of [
    ['on', true],
    ['true', true],
    ['off', false],
    ['false', false],
  ] as const) {
    expect(read({}, { TOLLGATE_CONSOLE: word })).toEqual({ console: is, problems: [] })
  }
  expect(read({ console: 'off' }, { TOLLGATE_CONSOLE: 'on' }).console).toBe(false)
  expect(read({}, { TOLLGATE_CONSOLE: 'no' }).problems).toEqual([
    { path: 'TOLLGATE_CONSOLE', message: 'expected on or off' },
  ])
})
