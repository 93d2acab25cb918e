// Tests every form in which vendors refuse, and how each is classified.

import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../errors.ts'
import type { Dialect } from '../dialect.ts'
import { dialects } from '../dialects.ts'
import { errorIn, faultInside, readFault } from './fault.ts'

const none = (): null => null

function fault(status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return readFault(status, (name) => headers[name] ?? null, text)
}

function openai(code: string | null, message = 'm', type = 'invalid_request_error'): object {
  return { error: { message, type, param: null, code } }
}

describe('kinds', () => {
  test.each<[number, unknown, string]>([
    [401, openai('invalid_api_key'), 'credentials'],
    [403, openai(null), 'credentials'],
    [401, { error: { code: '401', message: 'Access denied' } }, 'credentials'],
    [400, { code: 'x', error: 'Incorrect API key provided: xx' }, 'credentials'],
    [400, openai('invalid_api_key'), 'credentials'],
    [403, openai('model_not_found', 'Project p does not have access to model m'), 'unknown_model'],
    [403, { error: { code: 403, message: 'The input was flagged' } }, 'rejected'],
    [401, openai(null, 'The input was flagged'), 'credentials'],
    [402, openai(null), 'quota'],
    [429, openai('insufficient_quota', 'm', 'insufficient_quota'), 'quota'],
    [429, openai(null, 'You exceeded your current quota, please check'), 'quota'],
    [400, openai('billing_hard_limit_reached'), 'quota'],
    [403, openai(null, 'Your credit balance is too low'), 'quota'],
    [402, { error: { code: 402, message: 'Insufficient credits' } }, 'quota'],
    [404, openai('model_not_found'), 'unknown_model'],
    [404, '', 'unknown_model'],
    [404, { error: { message: "The model 'x' is unknown", param: 'model' } }, 'unknown_model'],
    [404, { error: { message: "Item with id 'rs_1' not found.", param: 'input' } }, 'rejected'],
    [
      404,
      openai(null, 'This model is only supported in v1/responses and not in v1/x.'),
      'rejected',
    ],
    [
      404,
      openai(null, 'This is not a chat model and thus not supported in the v1/chat/completions'),
      'rejected',
    ],
    [400, openai('model_not_found'), 'unknown_model'],
    [400, openai(null, "The model 'x' does not exist"), 'unknown_model'],
    [422, { detail: 'Model x not found' }, 'unknown_model'],
    [429, openai('rate_limit_exceeded'), 'rate_limited'],
    [429, { error: { code: 'RateLimitReached', message: 'm' } }, 'rate_limited'],
    [429, '', 'rate_limited'],
    [408, '', 'timeout'],
    [400, openai('context_length_exceeded'), 'rejected'],
    [409, openai(null), 'transient'],
    [424, openai(null), 'transient'],
    [
      424,
      openai('http_error', 'Error retrieving tool list', 'external_connector_error'),
      'rejected',
    ],
    [403, '<!DOCTYPE html><title>Sorry, you have been blocked</title>', 'transient'],
    [401, '<!DOCTYPE html><title>Unauthorized</title>', 'credentials'],
    [425, openai(null), 'transient'],
    [499, openai(null), 'transient'],
    [413, '', 'rejected'],
    [415, '', 'rejected'],
    [418, '', 'rejected'],
    [422, { detail: [{ loc: ['body', 'n'], msg: 'm' }] }, 'rejected'],
    [500, openai('server_error'), 'vendor_error'],
    [502, '<html>', 'vendor_error'],
    [503, '', 'vendor_error'],
    [529, { type: 'error', error: { type: 'overloaded_error', message: 'm' } }, 'vendor_error'],
    [301, '', 'unreadable'],
    [100, '', 'unreadable'],
  ])('%d %j is %s', (status, body, kind) => {
    const found = fault(status, body)
    expect(found.kind).toBe(kind as 'quota')
    expect(found.status).toBe(status)
    expect(found.message.trim()).not.toBe('')
  })

  test.each([
    [
      'reasoning_effort',
      "Invalid value: 'invalid api key'. Supported values are: 'low' and 'high'.",
    ],
    [
      'response_format.type',
      "Invalid value: 'x' insufficient balance'. Supported values are: 'text'.",
    ],
    [null, "Invalid value: 'insufficient balance'."],
    [null, 'Input should be "low" or "high", got "the model does not exist"'],
    [null, 'reasoning_effort must not be invalid api key'],
    [null, 'invalid api key: Extra inputs are not permitted'],
    [null, 'insufficient balance: Extra inputs are not permitted'],
    [null, 'Unknown parameter: the model does not exist'],
  ])('words of the client that a message repeats are a rejection: %s %s', (param, message) => {
    const error = { message, type: 'invalid_request_error', param, code: null }
    expect(fault(400, { error }).kind).toBe('rejected')
  })

  test('a message that only mentions models, keys or quotas is a rejection', () => {
    for (const message of [
      'top_k must not exceed the model maximum',
      'tools[0].api_key is unknown',
    ]) {
      expect(fault(400, openai('invalid_value', message)).kind).toBe('rejected')
    }
  })
})

describe('what the vendor says', () => {
  test('message, param and finer code of a rejection', () => {
    const body = {
      error: { message: 'too long', type: 't', param: 'messages', code: 'context_length_exceeded' },
    }
    expect(fault(400, body)).toEqual({
      kind: 'rejected',
      message: 'too long',
      status: 400,
      param: 'messages',
      code: 'context_length_exceeded',
    })
  })

  test.each([
    "This model's maximum context length is 8192 tokens. However, you requested 8203 tokens (7691 in the messages, 512 in the completion).",
    "This model's maximum prompt length is 131072 but the request contains 143344 tokens.",
    'Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length',
    "The input (345516 tokens) is longer than the model's context length (262144 tokens).",
    'Range of input length should be [1, 30720]',
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000',
    'Invalid request: Your request exceeded model token limit: 8192',
    'request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it',
  ])('a conversation too long for the model has the code for it: %s', (message) => {
    for (const code of [null, 400, '3051', 'invalid_request_error']) {
      const said = { error: { message, type: 'invalid_request_error', code } }
      expect(fault(400, said)).toMatchObject({ kind: 'rejected', code: 'context_length_exceeded' })
    }
  })

  test.each<[unknown, string]>([
    [{ error: 'plain' }, 'plain'],
    [{ message: 'flat' }, 'flat'],
    [{ detail: 'detail' }, 'detail'],
    [{ detail: [{ loc: ['body', 'messages', 0, 'role'], msg: 'bad role' }] }, 'bad role'],
    [{ object: 'error', message: { detail: [{ loc: ['body', 'n'], msg: 'bad n' }] } }, 'bad n'],
    [[{ error: { message: 'listed' } }], 'listed'],
    [{ base_resp: { status_code: 2013, status_msg: 'minimax' } }, 'minimax'],
    [{ msg: 'short' }, 'short'],
    ['plain text', 'plain text'],
  ])('%j', (body, message) => {
    expect(fault(400, body).message).toBe(message)
  })

  test("a validator's path is the param", () => {
    const detail = [{ loc: ['body', 'messages', 0, 'role'], msg: 'm' }]
    expect(fault(422, { detail })).toMatchObject({ param: 'messages[0].role' })
    expect(fault(422, { message: { detail } })).toMatchObject({ param: 'messages[0].role' })
  })

  test('codes that are statuses say nothing, others do', () => {
    expect(fault(401, { error: { code: '401', message: 'm' } }).code).toBeUndefined()
    expect(fault(400, { error: { code: 400, message: 'm' } }).code).toBeUndefined()
    expect(fault(400, { error: { code: 'content_filter', message: 'm' } }).code).toBe(
      'content_filter',
    )
    expect(fault(413, 'x')).toMatchObject({ code: 'request_too_large' })
  })

  test('pages are described and never quoted, long messages cut', () => {
    for (const page of ['<html>secret</html>', '\n<!DOCTYPE html>secret', '<?xml secret']) {
      expect(fault(502, page).message).toBe('the vendor answered 502 with a page in place of JSON')
    }
    expect(fault(400, openai(null, 'x'.repeat(2000))).message).toHaveLength(500)
    expect(fault(500, '').message).toBe('the vendor answered 500 without saying why')
  })
})

describe('how long to wait', () => {
  test('where a retry is of use', () => {
    for (const status of [429, 500, 503, 529]) {
      expect(fault(status, '', { 'retry-after': '2' }).retryAfterMs).toBe(2000)
    }
    expect(fault(400, '', { 'retry-after': '2' }).retryAfterMs).toBeUndefined()
    expect(fault(429, '').retryAfterMs).toBeUndefined()
  })
})

describe('inside a success', () => {
  test.each<[unknown, string, number | undefined]>([
    [{ code: 429, message: 'm' }, 'rate_limited', 429],
    [{ code: 502, message: 'm', metadata: {} }, 'vendor_error', 502],
    [{ code: '401', message: 'm' }, 'credentials', 401],
    [{ code: 400, message: 'm' }, 'rejected', 400],
    [{ code: 'insufficient_quota', message: 'm' }, 'quota', undefined],
    [{ code: 'rate_limit_exceeded', message: 'm' }, 'rate_limited', undefined],
    [{ code: 'content_filter', message: 'm' }, 'rejected', undefined],
    [{ code: 'content_policy_violation', message: 'm' }, 'rejected', undefined],
    [{ code: 'moderation_blocked', message: 'm' }, 'rejected', undefined],
    [{ type: 'invalid_request_error', message: 'm' }, 'rejected', undefined],
    [{ type: 'server_error', message: 'm' }, 'vendor_error', undefined],
    ['over_capacity', 'vendor_error', undefined],
    [{}, 'vendor_error', undefined],
    [true, 'vendor_error', undefined],
  ])('%j', (error, kind, status) => {
    const found = faultInside(error as string)
    expect(found).toMatchObject({ kind: kind as 'quota' })
    expect(found.status).toBe(status)
    expect(found.message).not.toBe('')
  })

  test('where errors stand', () => {
    expect(errorIn({ code: 'c', error: 'text' })).toEqual({ code: 'c', error: 'text' })
    expect(errorIn({ error: { message: 'm' } })).toEqual({ message: 'm' })
    expect(errorIn({ x_groq: { error: 'e' } })).toBe('e')
    expect(errorIn({ choices: [{}, { error: { code: 1 } }] })).toEqual({ code: 1 })
    expect(errorIn({ error: null, choices: [{}] })).toBeNull()
  })
})

test('a message of a megabyte is judged by its beginning, in time in proportion to that', () => {
  const message = `Invalid value ${" 'a".repeat(350_000)}`
  expect(readFault(400, none, JSON.stringify({ error: { message } })).kind).toBe('rejected')
})

test('a refusal has the shape of OpenAI', () => {
  const { refuse } = dialects['openai-chat'].client
  const plain = new GatewayError('invalid_request_error', 'no "n"', { param: 'n' })
  expect(JSON.parse(refuse(plain, 'req_1'))).toEqual({
    error: {
      message: 'no "n"',
      type: 'invalid_request_error',
      param: 'n',
      code: 'invalid_request_error',
    },
  })
  const finer = new GatewayError('invalid_request_error', 'm', { shownCode: 'content_filter' })
  expect(JSON.parse(refuse(finer, 'req_1')).error).toMatchObject({
    code: 'content_filter',
    param: null,
  })
  expect(JSON.parse(refuse(new GatewayError('rate_limit_exceeded', 'm'), 'req_1')).error.type).toBe(
    'rate_limit_exceeded',
  )
})

test('all dialects read errors alike', () => {
  for (const { vendor } of Object.values<Dialect>(dialects)) {
    if (vendor !== undefined) expect(vendor.fault(429, none, '').kind).toBe('rate_limited')
  }
})
