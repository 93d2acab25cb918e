// Tests that a model which a vendor does not know is reported as the operator's mistake, however the vendor reports it.

import { describe, expect, test } from 'bun:test'
import { vendors } from '../src/vendors/registry.ts'
import { dialects } from '../src/wire/dialects.ts'
import type { VendorDialectId } from '../src/wire/formats.ts'

type Case = readonly [vendor: string, status: number, body: object]

const error = (message: string, more: object = {}) => ({
  error: { message, type: 'invalid_request_error', param: null, code: null, ...more },
})

/** As documented, recorded, or reported by the vendors' users. */
const unknown: readonly Case[] = [
  ['openai', 404, error('The model `gpt-9` does not exist', { code: 'model_not_found' })],
  [
    'openai',
    400,
    error('The requested model `gpt-9` does not exist.', { code: 'model_not_found' }),
  ],
  ['openai', 400, error('invalid model ID')],
  [
    'openai',
    403,
    error('Project does not have access to model gpt-9', { code: 'model_not_found' }),
  ],
  ['azure-openai', 404, { error: { code: 'DeploymentNotFound', message: 'The API deployment x' } }],
  ['azure-openai', 400, { error: { code: 'unavailable_model', message: 'Unavailable model: x' } }],
  [
    'azure-openai',
    400,
    {
      error: {
        code: 'OperationNotSupported',
        message: 'The chatCompletion operation does not work with the specified model, x.',
      },
    },
  ],
  ['anthropic', 404, { type: 'error', error: { type: 'not_found_error', message: 'model: x' } }],
  [
    'google',
    404,
    {
      error: {
        code: 404,
        message: 'models/x is not found for API version v1beta',
        status: 'NOT_FOUND',
      },
    },
  ],
  [
    'google',
    400,
    {
      error: {
        code: 400,
        message: '* GenerateContentRequest.model: unexpected model name format',
        status: 'INVALID_ARGUMENT',
      },
    },
  ],
  [
    'vertex',
    404,
    {
      error: {
        code: 404,
        message:
          'Publisher Model `projects/p/x` was not found or your project does not have access',
        status: 'NOT_FOUND',
      },
    },
  ],
  ['bedrock', 400, { message: 'The provided model identifier is invalid.' }],
  [
    'mistral',
    400,
    { object: 'error', message: 'Invalid model: x', type: 'invalid_model', code: '1500' },
  ],
  ['groq', 404, error('The model `x` does not exist', { code: 'model_not_found' })],
  [
    'groq',
    400,
    error('The model `x` has been decommissioned and is no longer supported.', {
      code: 'model_decommissioned',
    }),
  ],
  ['deepseek', 400, error('Model Not Exist', { code: 'invalid_request_error' })],
  ['together', 400, error('Unable to access model x.', { code: 'model_not_available' })],
  ['together', 404, error('Unable to access model x.', { code: 'model_not_available' })],
  [
    'fireworks',
    404,
    error('Model not found, inaccessible, and/or not deployed', { code: 'NOT_FOUND' }),
  ],
  ['openrouter', 400, { error: { message: 'x/y is not a valid model ID', code: 400 } }],
  ['openrouter', 404, { error: { message: 'No endpoints found for x/y.', code: 404 } }],
  [
    'xai',
    404,
    { code: 'Some requested entity was not found', error: 'The model x does not exist' },
  ],
  ['xai', 400, { code: 'Client specified an invalid argument', error: 'Model not found: x' }],
  [
    'cerebras',
    404,
    { message: 'Model x does not exist', type: 'not_found_error', code: 'model_not_found' },
  ],
  [
    'perplexity',
    400,
    { error: { message: "Invalid model 'x'.", type: 'invalid_model', code: 400 } },
  ],
  [
    'moonshot',
    404,
    { error: { message: 'Not found the model x', type: 'resource_not_found_error' } },
  ],
  ['zhipu', 400, { error: { code: '1211', message: '模型不存在，请检查模型代码。' } }],
  ['dashscope', 404, error('The model `x` does not exist', { code: 'model_not_found' })],
  ['dashscope', 403, { code: 'Model.AccessDenied', message: 'Model access denied.' }],
  [
    'minimax',
    400,
    { base_resp: { status_code: 2013, status_msg: "invalid params, unknown model 'x' (2013)" } },
  ],
  ['siliconflow', 400, { code: 20012, message: 'Model does not exist.', data: null }],
  ['cohere', 404, { message: "model 'x' not found, make sure the correct model ID was used" }],
  ['voyage', 400, { detail: 'Model x-1.5 is not supported. Supported models are [y, z].' }],
  ['jina', 422, { detail: 'Model x not found' }],
  [
    'ollama',
    404,
    { error: { message: 'model "x" not found, try pulling it first', type: 'api_error' } },
  ],
  [
    'vllm',
    404,
    { object: 'error', message: 'The model `x` does not exist.', type: 'NotFoundError' },
  ],
  ['lmstudio', 400, error('Invalid model identifier "x".', { param: 'model' })],
  [
    'llamacpp',
    400,
    { error: { code: 400, message: 'model not found', type: 'invalid_request_error' } },
  ],
  ['openai-compatible', 400, { error: { message: 'unknown model: x' } }],
]

/** An error that only mentions a model is the client's own. */
const rejected: readonly Case[] = [
  [
    'openai',
    400,
    error("'temperature' is not supported with this model.", { param: 'temperature' }),
  ],
  [
    'openai',
    400,
    error('This model requires that the input or output has audio.', { param: 'model' }),
  ],
  ['anthropic', 400, error('`top_p` is deprecated for this model.')],
  [
    'google',
    400,
    { error: { code: 400, message: 'Function calling is not enabled for models/x' } },
  ],
  ['bedrock', 400, { message: "This model doesn't support tool use." }],
  [
    'mistral',
    400,
    { object: 'error', message: 'Invalid model output format', type: 'invalid_request' },
  ],
]

function kindOf([vendor, status, body]: Case): string | undefined {
  const found = vendors[vendor]
  const dialect = dialects[found?.speaks[0] as VendorDialectId]
  const text = JSON.stringify(body)
  const type = vendor === 'bedrock' ? 'ValidationException:http://x/' : null
  const header = (name: string) => (name === 'x-amzn-errortype' ? type : null)
  const fault = dialect.vendor.fault(status, header, text)
  return (found?.quirks.refine?.(fault, status, text) ?? fault).kind
}

describe("is taken for the operator's mistake", () => {
  test.each(unknown)('%s %d %j', (vendor, status, body) =>
    expect(kindOf([vendor, status, body])).toBe('unknown_model'),
  )
})

describe("a refusal that mentions the model is the client's own", () => {
  test.each(rejected)('%s %d %j', (vendor, status, body) =>
    expect(kindOf([vendor, status, body])).toBe('rejected'),
  )
})
