// Tests Bedrock's error replies, by the exception that they name in a header or in the body.

import { expect, test } from 'bun:test'
import { readBedrockFault } from './fault.ts'

const cases: readonly (readonly [status: number, type: string, message: string, kind: string])[] = [
  [400, 'ValidationException:http://internal.amazon.com/', 'messages: bad', 'rejected'],
  [400, 'ValidationException', 'The provided model identifier is invalid.', 'unknown_model'],
  [
    400,
    'ValidationException',
    "Invocation of model ID x with on-demand throughput isn't supported.",
    'unknown_model',
  ],
  [403, 'AccessDeniedException', "You don't have access to the model.", 'unknown_model'],
  [403, 'AccessDeniedException', 'The account is closed.', 'credentials'],
  [403, 'UnrecognizedClientException', 'The security token is invalid.', 'credentials'],
  [403, 'InvalidSignatureException', 'Signature expired.', 'credentials'],
  [400, 'ServiceQuotaExceededException', 'Quota.', 'quota'],
  [404, 'ResourceNotFoundException', 'Could not resolve the model.', 'unknown_model'],
  [408, 'ModelTimeoutException', 'Timed out.', 'timeout'],
  [424, 'ModelErrorException', 'The model failed.', 'vendor_error'],
  [429, 'ThrottlingException', 'Too many requests.', 'rate_limited'],
  [429, 'ModelNotReadyException', 'Not ready.', 'rate_limited'],
  [500, 'InternalServerException', 'Failed.', 'vendor_error'],
  [503, 'ServiceUnavailableException', 'Busy.', 'vendor_error'],
  [500, '', 'Failed.', 'vendor_error'],
]

test.each(cases)('%p %s: %s', (status, type, message, kind) => {
  const header = (name: string) => (name === 'x-amzn-errortype' ? type : null)
  const fault = readBedrockFault(status, header, JSON.stringify({ message }))
  expect(fault).toMatchObject({ kind, message, status })
})

test('the type may stand in the body, and the message under a capital', () => {
  const body = JSON.stringify({ __type: 'com.amazon.coral.service#ThrottlingException' })
  expect(readBedrockFault(400, () => null, body).kind).toBe('rate_limited')
  const denied = JSON.stringify({ Message: 'Authentication failed: check your API Key.' })
  expect(readBedrockFault(403, () => null, denied)).toMatchObject({
    kind: 'credentials',
    message: 'Authentication failed: check your API Key.',
  })
})

test('a prompt that is too long has the code clients know', () => {
  const header = () => 'ValidationException'
  const body = JSON.stringify({ message: 'Input is too long for requested model.' })
  expect(readBedrockFault(400, header, body)).toMatchObject({
    kind: 'rejected',
    code: 'context_length_exceeded',
    param: 'messages',
  })
})

test('what is no JSON is judged by its status', () => {
  expect(readBedrockFault(502, () => null, '<html>bad gateway</html>')).toMatchObject({
    kind: 'vendor_error',
    status: 502,
  })
})
