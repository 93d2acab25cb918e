// Tests whose fault a failure was: every code has an explanation, and the documentation has the same one.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { usageRow } from '../../test/contract/store.ts'
import { errorTable } from '../errors.ts'
import { blameOf, explanations } from './blame.ts'

const asked = { attempts: 1, failedAttempts: null }
const failedBy = (kind: string) => ({
  attempts: 1,
  failedAttempts: [{ channel: 'c', kind, costNano: '0' }],
})

test.each([
  ['invalid_request_error', { attempts: 0 }, 'request'],
  ['insufficient_quota', { attempts: 0 }, 'account'],
  ['rate_limit_exceeded', { attempts: 0 }, 'account'],
  ['rate_limit_exceeded', failedBy('rate_limited'), 'vendor'],
  ['service_unavailable', { attempts: 0 }, 'gateway'],
  ['service_unavailable', failedBy('timeout'), 'vendor'],
  ['service_unavailable', failedBy('credentials'), 'gateway'],
  ['service_unavailable', failedBy('quota'), 'gateway'],
  ['server_error', asked, 'vendor'],
  ['server_error', { attempts: 0 }, 'gateway'],
  ['client_closed_request', asked, 'client'],
  ['request_stopped', asked, 'account'],
  ['request_stopped', { ...asked, errorCause: 'stopped by an operator of the gateway' }, 'gateway'],
  ['constructor', asked, 'gateway'],
] as const)('%s of %p: %s', (errorCode, more, party) => {
  const blame = blameOf(usageRow({ status: 503, errorCode, ...more }), false)
  expect(blame?.party).toBe(party)
  expect(blame?.message).toMatch(/; nothing was charged\.$/)
})

test('a stream that a vendor broke off was answered, whatever went before', () => {
  const row = { errorCode: 'service_unavailable', chargeNano: 1n, ...failedBy('credentials') }
  expect(blameOf(usageRow({ ...row, status: 200 }), false)).toEqual({
    party: 'vendor',
    charged: true,
    message:
      "The vendor is at fault: the vendor's reply broke off before its end; what was delivered was charged.",
    next: 'Send it again.',
  })
})

test('says whether it was charged, and the cause to operators alone', () => {
  const failed = { status: 503, errorCode: 'service_unavailable', errorCause: 'it broke' }
  const row = usageRow({ ...failed, chargeNano: 1n })
  expect(blameOf(row, true)).toMatchObject({
    charged: true,
    message:
      'The vendor is at fault: no vendor answered it (it broke); what was delivered was charged.',
  })
  expect(blameOf(row, false)?.message).not.toContain('it broke')
  expect(blameOf(usageRow({ errorCode: null }), true)).toBeNull()
})

test('every code of the errors has an explanation, in the documentation too', () => {
  expect(Object.keys(explanations).sort()).toEqual(
    [...Object.keys(errorTable), 'client_closed_request'].sort(),
  )
  const page = readFileSync(join(import.meta.dirname, '../../docs/errors.md'), 'utf8')
  const table = page.slice(page.indexOf('## Who is at fault'))
  for (const [code, { party, asked }] of Object.entries(explanations)) {
    const parties =
      asked === undefined || asked.party === party
        ? party
        : `${party}; ${asked.party} where one was asked`
    expect(table).toContain(`| \`${code}\` | ${parties} |`)
  }
})
