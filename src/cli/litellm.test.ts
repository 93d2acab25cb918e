// Tests what a configuration of LiteLLM's proxy becomes: channels, names, prices, and what is said to be missing.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseFile } from '../config/parse.ts'
import { vendors } from '../vendors/registry.ts'
import type { JsonObject } from '../wire/ir.ts'
import { fromLitellm } from './litellm.ts'
import { providers } from './litellm-vendors.ts'

function convert(text: string) {
  const converted = fromLitellm(parseFile(text, []))
  if (converted === null) throw new Error('it was not taken as a configuration of LiteLLM')
  return converted
}

/** The channels of deployments that are each of the model `m`, unless they name another. */
function channelsOf(...deployments: readonly JsonObject[]) {
  const list = deployments.map(({ name = 'm', ...params }) => ({
    model_name: name,
    litellm_params: params,
  }))
  return convert(JSON.stringify({ model_list: list })).config['channels']
}

/** What is said to be missing, by its place. */
function leftOf(text: string) {
  return Object.fromEntries(convert(text).left.map(({ path, message }) => [path, message]))
}

test('every provider has a vendor that exists', () => {
  expect([...providers.values()].filter((vendor) => vendors[vendor] === undefined)).toEqual([])
})

describe('a deployment becomes a channel', () => {
  test.each<[JsonObject, JsonObject]>([
    [
      { model: 'openai/gpt-4o', api_key: 'os.environ/KEY' },
      { vendor: 'openai', key: `\${KEY}`, models: { m: 'gpt-4o' } },
    ],
    [{ model: 'gpt-4o' }, { vendor: 'openai', key: `\${OPENAI_API_KEY}`, models: { m: 'gpt-4o' } }],
    [
      { model: 'openai/qwen', api_base: 'http://10.0.0.5:8000/v1', api_key: 'a${b' },
      {
        vendor: 'openai-compatible',
        baseUrl: 'http://10.0.0.5:8000/v1',
        key: 'a$${b',
        models: { m: 'qwen' },
      },
    ],
    [
      { model: 'openai/gpt-4o', api_base: 'https://api.openai.com/v1', api_key: 'k' },
      { vendor: 'openai', baseUrl: 'https://api.openai.com/v1', key: 'k', models: { m: 'gpt-4o' } },
    ],
    [
      { model: 'azure/eu', api_base: 'https://r.openai.azure.com', api_version: '2024-10-21' },
      {
        vendor: 'azure-openai',
        baseUrl: 'https://r.openai.azure.com',
        options: { apiVersion: '2024-10-21' },
        key: `\${AZURE_OPENAI_API_KEY}`,
        models: { m: 'eu' },
      },
    ],
    [
      { model: 'openrouter/meta-llama/llama-3', api_key: 'k', name: 'openrouter/*' },
      { vendor: 'openrouter', key: 'k', models: { 'openrouter/*': 'meta-llama/llama-3' } },
    ],
    [
      { model: 'meta/llama', custom_llm_provider: 'openai_like', api_base: 'http://a:1/v1' },
      { vendor: 'openai-compatible', baseUrl: 'http://a:1/v1', models: { m: 'meta/llama' } },
    ],
    [
      {
        model: 'bedrock/converse/amazon.nova-pro-v1:0',
        aws_access_key_id: 'os.environ/ID',
        aws_secret_access_key: 'os.environ/SECRET',
        aws_region_name: 'eu-west-1',
      },
      {
        vendor: 'bedrock',
        options: { region: 'eu-west-1' },
        key: `\${ID}:\${SECRET}`,
        models: { m: 'amazon.nova-pro-v1:0' },
      },
    ],
    [
      { model: 'vertex_ai/gemini', vertex_project: 'p', vertex_credentials: '/etc/key.json' },
      {
        vendor: 'vertex',
        options: { project: 'p' },
        key: { file: '/etc/key.json' },
        models: { m: 'gemini' },
      },
    ],
    [
      { model: 'ollama_chat/llama', api_base: 'http://localhost:11434/' },
      { vendor: 'ollama', baseUrl: 'http://localhost:11434/v1', models: { m: 'llama' } },
    ],
  ])('%j', (params, channel) => {
    expect(channelsOf(params)).toEqual([{ id: channel['vendor'] ?? null, ...channel }])
  })

  test('with weights in the same proportion, as whole numbers', () => {
    const weights = (...given: number[]) =>
      channelsOf(...given.map((weight, at) => ({ model: 'gpt-4o', api_key: `k${at}`, weight })))
    expect(weights(0.9, 0.1)).toMatchObject([{ weight: 900 }, { weight: 100 }])
    expect(weights(2, 0.5)).toMatchObject([{ weight: 2_000 }, { weight: 500 }])
    expect(weights(9, 1)).toMatchObject([{ weight: 9 }, { weight: 1 }])
  })

  test('with its limits, times and labels', () => {
    const limits = { rpm: 6, tpm: 1000, max_parallel_requests: 3, weight: 2, order: 1 }
    const others = { timeout: 1.5, stream_timeout: 2, tags: ['eu'], extra_headers: { 'X-A': 'b' } }
    expect(channelsOf({ model: 'gpt-4o', api_key: 'k', ...limits, ...others })).toMatchObject([
      {
        limits: { requestsPerMinute: 6, tokensPerMinute: 1000 },
        concurrency: 3,
        weight: 2,
        priority: 1,
        timeouts: { replyMs: 1500, firstEventMs: 2000 },
        tags: ['eu'],
        headers: { 'x-a': 'b' },
      },
    ])
  })
})

describe('deployments share a channel', () => {
  const one = { model: 'gpt-4o', api_key: 'k', name: 'gpt-4o' }
  const other = { model: 'gpt-4.1', api_key: 'k', name: 'gpt-4.1' }

  test('of one key and address', () => {
    expect(channelsOf(one, other)).toMatchObject([{ models: ['gpt-4o', 'gpt-4.1'] }])
  })

  test('but not those of another key, of the same name, or with limits of their own', () => {
    for (const change of [{ api_key: 'l' }, { name: 'gpt-4o' }]) {
      const channels = channelsOf(one, { ...other, ...change })
      expect(channels).toMatchObject([{ id: 'openai' }, { id: 'openai-2' }])
    }
    expect(channelsOf({ ...one, rpm: 5 }, { ...other, rpm: 5 })).toHaveLength(2)
  })
})

test('aliases are further names wherever their model is served', () => {
  const text = `
model_list:
  - { model_name: a, litellm_params: { model: gpt-4o, api_key: k } }
  - { model_name: a, litellm_params: { model: gpt-4o, api_key: l } }
router_settings: { model_group_alias: { b: a, c: { model: a, hidden: true }, d: missing } }`
  const names = { a: 'gpt-4o', b: 'gpt-4o', c: 'gpt-4o' }
  expect(convert(text).config['channels']).toMatchObject([{ models: names }, { models: names }])
  expect(leftOf(text)).toEqual({
    'router_settings.model_group_alias.d': 'names no model of this file',
  })
})

describe('prices', () => {
  const priced = (input: string) =>
    convert(`model_list: [{ model_name: a, litellm_params: { model: gpt-4o }, model_info: {
      input_cost_per_token: ${input} } }]`).config['models']

  test.each([
    ['0.00000015', '0.15'],
    ['1.5e-7', '0.15'],
    ['6e-7', '0.6'],
    ['2.5E-06', '2.5'],
    ['0.00003', '30'],
    ['1', '1000000'],
    ['0', '0'],
    ['1e-12', '0.000001'],
  ])('%s a token is %s a million', (input, price) => {
    expect(priced(input)).toEqual({ a: { prices: { input: price } } })
  })

  test('are exact', () => {
    fc.assert(
      fc.property(fc.nat({ max: 10 ** 9 }), fc.integer({ min: 0, max: 14 }), (digits, places) => {
        const [whole, part] = [digits, 10n ** BigInt(places)]
        const text = `${BigInt(whole) / part}.${String(BigInt(whole) % part).padStart(places, '0')}`
        const price = priced(JSON.stringify(places === 0 ? String(whole) : text)) as {
          a: { prices: { input: string } }
        }
        const [units = '', rest = ''] = price.a.prices.input.split('.')
        expect(BigInt(units + rest) * part).toBe(
          BigInt(whole) * 10n ** 6n * 10n ** BigInt(rest.length),
        )
      }),
    )
  })

  test('of the deployment come first, and a difference is said', () => {
    const text = `
model_list:
  - model_name: a
    litellm_params: { model: gpt-4o, output_cost_per_token: 0.000002 }
    model_info: { output_cost_per_token: 0.000001 }
  - { model_name: a, litellm_params: { model: gpt-4.1, output_cost_per_token: 0.000003 } }`
    expect(convert(text).config['models']).toEqual({ a: { prices: { output: '2' } } })
    expect(leftOf(text)).toHaveProperty(['model_name a'])
  })
})

test('what is not carried over is named with its place', () => {
  const text = `
model_list:
  - { model_name: a, litellm_params: { model: gpt-4o, temperature: 1, api_key: null } }
  - { model_name: b, litellm_params: { model: sagemaker/x } }
  - { model_name: c, litellm_params: { model: mine } }
  - { litellm_params: { model: gpt-4o } }
  - nothing
litellm_settings: { fallbacks: [{ a: [b] }] }
general_settings: { master_key: sk-secret }
include: [other.yaml]`
  const left = leftOf(text)
  expect(Object.keys(left)).toEqual([
    'model_list[0].litellm_params.temperature',
    'model_list[1].litellm_params.model',
    'model_list[2].litellm_params.model',
    'model_list[3]',
    'model_list[4]',
    'litellm_settings.fallbacks',
    'general_settings.master_key',
    'include',
  ])
  expect(JSON.stringify(left)).not.toContain('sk-secret')
})

test.each(['{}', 'channels: []', 'model_list: a', '[]'])('%j is no such file', (text) => {
  expect(fromLitellm(parseFile(text, []))).toBeNull()
})
