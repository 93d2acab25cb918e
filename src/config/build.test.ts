// Tests that the code that is used when the schema is not loaded agrees with the schema.

import { expect, test } from 'bun:test'
import { emptyChannel, emptyGroup, emptyModel } from './build.ts'
import { channel, group, model } from './schema.ts'

test('a channel, a group and a model that say nothing are what the schema makes of them', () => {
  const named = { id: 'a', vendor: 'b' }
  expect(channel.parse(named)).toEqual({ ...emptyChannel, ...named })
  expect(group.parse({})).toEqual(emptyGroup)
  expect(model.parse({})).toEqual(emptyModel)
})
