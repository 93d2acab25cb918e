// Tests flags and environment variables: those of the console, and empty ones.

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

test('an empty flag is refused, an empty variable is none', () => {
  expect(read({ config: '', data: '' }, { TOLLGATE_DATA: '/data' }).problems).toEqual([
    { path: '--config', message: 'must not be empty' },
    { path: '--data', message: 'must not be empty' },
  ])
  expect(read({}, { TOLLGATE_CONFIG: '', TOLLGATE_DATA: '', PORT: '' }).problems).toEqual([])
})
