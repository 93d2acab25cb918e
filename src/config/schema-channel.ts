// Further settings of a channel: how its requests differ, and what follows failures.

import { z } from 'zod'
import { refusedParameter } from './parameter-rules.ts'
import { count, pairs, part, sparse, sparseKey, wholeNumber } from './schema-parts.ts'

const mostCharacters = 16_384

const memberPath = z
  .string('expected the name of a field')
  .regex(
    /^[A-Za-z][\w-]{0,63}(\.[A-Za-z][\w-]{0,63}){0,7}$/,
    'expected the name of a field, or names joined by dots such as thinking.type',
  )

const values = pairs(memberPath, z.unknown())

export const parameters = sparse({
  set: sparseKey(values, 'Fields set in every request, in place of what the client sent.'),
  remove: sparseKey(
    z.array(memberPath, 'expected a list of names').max(64, 'expected at most 64 names'),
    'Fields removed from every request.',
  ),
  defaults: sparseKey(values, 'Fields set in requests in which they are missing or null.'),
}).superRefine(({ set = {}, remove = [], defaults = {} }, { addIssue }) => {
  const said = [
    ...Object.entries(set).map(([name, value]) => ({ name, value, path: ['set', name] })),
    ...remove.map((name, index) => ({ name, value: undefined, path: ['remove', index] })),
    ...Object.entries(defaults).map(([name, value]) => ({ name, value, path: ['defaults', name] })),
  ]
  for (const [index, { name, value, path }] of said.entries()) {
    const isRepeated = said.findIndex((each) => each.name === name) !== index
    const message = isRepeated ? 'stands here twice' : refusedParameter(name, value)
    if (message !== null) addIssue({ code: 'custom', path, message })
  }
  if (JSON.stringify([set, defaults]).length > mostCharacters)
    addIssue({ code: 'custom', message: `expected at most ${mostCharacters} characters` })
})

const statuses = z
  .array(wholeNumber(400, 599), 'expected a list of statuses')
  .max(64, 'expected at most 64 statuses')

export const retryStatuses = sparse({
  add: sparseKey(
    statuses,
    'Further statuses of the vendor (400 to 599) after which another channel is tried.',
  ),
  remove: sparseKey(
    statuses,
    'Statuses of the vendor (400 to 599) after which no other channel is tried.',
  ),
}).superRefine(({ add = [], remove = [] }, { addIssue }) => {
  for (const [index, status] of remove.entries())
    if (add.includes(status))
      addIssue({ code: 'custom', path: ['remove', index], message: 'is also in add' })
})

export const channelLimits = part(
  sparse({
    requestsPerMinute: sparseKey(
      count,
      'Requests per minute; at the limit other channels are used.',
    ),
    tokensPerMinute: sparseKey(
      count,
      'Tokens per minute, input and output together; at the limit other channels are used.',
    ),
  }),
  'Rate limits of the channel, for all of its keys together; one left out does not limit.',
)
