// Tests how Google's errors are classified, and the form of ours for Google's clients.

import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../errors.ts'
import { faultInside, readFault, refuse } from './fault.ts'

const none = () => null
const type = 'type.googleapis.com/google.rpc.'

function fault(code: number, status: string, message: string, ...details: object[]) {
  return readFault(code, none, JSON.stringify({ error: { code, message, status, details } }))
}

describe('errors', () => {
  test.each([
    [400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', 'credentials'],
    [400, 'INVALID_ARGUMENT', 'API key expired. Please renew the API key.', 'credentials'],
    [400, 'INVALID_ARGUMENT', 'Invalid JSON payload received.', 'rejected'],
    [400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.', 'quota'],
    [401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.', 'credentials'],
    [403, 'PERMISSION_DENIED', 'Method does not allow unregistered callers.', 'credentials'],
    [
      403,
      'PERMISSION_DENIED',
      'You do not have permission to access the File abc or it may not exist.',
      'rejected',
    ],
    [403, 'PERMISSION_DENIED', 'CachedContent not found (or permission denied)', 'rejected'],
    [404, 'NOT_FOUND', 'models/x is not found for API version v1beta', 'unknown_model'],
    [429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted (e.g. check quota).', 'rate_limited'],
    [499, 'CANCELLED', 'The operation was cancelled.', 'vendor_error'],
    [500, 'INTERNAL', 'An internal error has occurred.', 'vendor_error'],
    [503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.', 'vendor_error'],
    [504, 'DEADLINE_EXCEEDED', 'Deadline expired before operation could complete.', 'timeout'],
  ] as const)('%i %s: %s', (code, status, message, kind) => {
    expect(fault(code, status, message)).toMatchObject({ kind, message, status: code })
  })

  test.each(['api key not valid', 'models/x is not found'])(
    'words of the client that a message repeats are a rejection: %s',
    (name) => {
      const message = `Invalid JSON payload received. Unknown name "${name}": Cannot find field.`
      const details = { '@type': `${type}BadRequest`, fieldViolations: [{ description: message }] }
      expect(fault(400, 'INVALID_ARGUMENT', message, details).kind).toBe('rejected')
    },
  )

  test('the reason counts more than the status', () => {
    const info = (reason: string) => ({ '@type': `${type}ErrorInfo`, reason })
    expect(fault(400, 'INVALID_ARGUMENT', 'x', info('API_KEY_INVALID')).kind).toBe('credentials')
    expect(fault(403, 'PERMISSION_DENIED', 'x', info('BILLING_DISABLED')).kind).toBe('quota')
  })

  test('W50: the wait is in the details', () => {
    const wait = (retryDelay: string) =>
      fault(429, 'RESOURCE_EXHAUSTED', 'x', { '@type': `${type}RetryInfo`, retryDelay })
        .retryAfterMs
    expect(wait('34.4s')).toBe(34_400)
    expect(wait('0s')).toBe(0)
    expect(wait('3600s')).toBe(60_000)
    expect(wait('soon')).toBeUndefined()
  })

  test('a field that is at fault is named', () => {
    const violation = { field: 'generation_config.top_k', description: 'x' }
    const details = { '@type': `${type}BadRequest`, fieldViolations: [violation] }
    expect(fault(400, 'INVALID_ARGUMENT', 'x', details).param).toBe('generation_config.top_k')
    const words = '* GenerateContentRequest.contents: contents is not specified'
    expect(fault(400, 'INVALID_ARGUMENT', words).param).toBe('contents')
  })

  test('too long a prompt has the code that clients know', () => {
    const message = 'The input token count (9) exceeds the maximum number of tokens allowed (8).'
    expect(fault(400, 'INVALID_ARGUMENT', message).code).toBe('context_length_exceeded')
  })

  test('a list around it, an event, a text, a page', () => {
    const error = { error: { code: 503, message: 'm', status: 'UNAVAILABLE' } }
    expect(readFault(503, none, JSON.stringify([error]))).toMatchObject({ message: 'm' })
    expect(readFault(503, none, `data: ${JSON.stringify(error)}\n\n`)).toMatchObject({
      message: 'm',
    })
    expect(readFault(500, none, 'broken')).toMatchObject({
      kind: 'vendor_error',
      message: 'broken',
    })
    expect(readFault(502, none, '<html>secret</html>').message).not.toContain('secret')
    expect(readFault(502, none, '').message).not.toBe('')
  })

  test('inside a success', () => {
    expect(faultInside({ code: 429, message: 'm', status: 'RESOURCE_EXHAUSTED' }).kind).toBe(
      'rate_limited',
    )
    expect(faultInside({ message: 'm', status: 'UNAVAILABLE' })).toMatchObject({ status: 503 })
    expect(faultInside('m')).toEqual({ kind: 'vendor_error', message: 'm' })
  })
})

test.each([
  ['invalid_api_key', 401, 'UNAUTHENTICATED', 'API_KEY_INVALID'],
  ['model_not_found', 404, 'NOT_FOUND', 'MODEL_NOT_FOUND'],
  ['rate_limit_exceeded', 429, 'RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED'],
  ['service_unavailable', 503, 'UNAVAILABLE', 'SERVICE_UNAVAILABLE'],
  ['server_error', 500, 'INTERNAL', 'SERVER_ERROR'],
] as const)('%s is written as %i %s', (code, status, name, reason) => {
  const error = new GatewayError(code, 'why', { param: 'contents[0]', retryAfterMs: 1_500 })
  expect(JSON.parse(refuse(error))).toEqual({
    error: {
      code: status,
      message: 'why',
      status: name,
      details: [
        { '@type': `${type}ErrorInfo`, reason, domain: 'tollgate' },
        {
          '@type': `${type}BadRequest`,
          fieldViolations: [{ field: 'contents[0]', description: 'why' }],
        },
        { '@type': `${type}RetryInfo`, retryDelay: '1.5s' },
      ],
    },
  })
})
