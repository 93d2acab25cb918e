// Tests at which address each vendor is called and how a call is signed.

import { expect, test } from 'bun:test'
import { isBaseUrl } from '../config/rules.ts'
import type { VendorDialectId } from '../wire/formats.ts'
import { vendors } from './registry.ts'
import type { ChannelSettings, Vendor } from './vendor.ts'

const key = 'sk-secret-of-the-test'

function vendorNamed(id: string): Vendor {
  const vendor = vendors[id]
  if (vendor === undefined) throw new Error(`no vendor ${id}`)
  return vendor
}

function settings(vendor: Vendor, more: Partial<ChannelSettings> = {}): ChannelSettings {
  return { baseUrl: vendor.baseUrl ?? 'https://operator.example', key, options: {}, ...more }
}

const chat: readonly (readonly [id: string, address: string, environment: string | undefined])[] = [
  ['openai', 'https://api.openai.com/v1/chat/completions', 'OPENAI_API_KEY'],
  ['azure-openai', 'https://operator.example/openai/v1/chat/completions', 'AZURE_OPENAI_API_KEY'],
  ['anthropic', 'https://api.anthropic.com/v1/messages', 'ANTHROPIC_API_KEY'],
  ['xai', 'https://api.x.ai/v1/chat/completions', 'XAI_API_KEY'],
  ['deepseek', 'https://api.deepseek.com/chat/completions', 'DEEPSEEK_API_KEY'],
  ['mistral', 'https://api.mistral.ai/v1/chat/completions', 'MISTRAL_API_KEY'],
  ['groq', 'https://api.groq.com/openai/v1/chat/completions', 'GROQ_API_KEY'],
  ['openrouter', 'https://openrouter.ai/api/v1/chat/completions', 'OPENROUTER_API_KEY'],
  ['together', 'https://api.together.xyz/v1/chat/completions', 'TOGETHER_API_KEY'],
  ['fireworks', 'https://api.fireworks.ai/inference/v1/chat/completions', 'FIREWORKS_API_KEY'],
  ['cerebras', 'https://api.cerebras.ai/v1/chat/completions', 'CEREBRAS_API_KEY'],
  ['perplexity', 'https://api.perplexity.ai/chat/completions', 'PERPLEXITY_API_KEY'],
  ['moonshot', 'https://api.moonshot.ai/v1/chat/completions', 'MOONSHOT_API_KEY'],
  ['zhipu', 'https://open.bigmodel.cn/api/paas/v4/chat/completions', 'ZHIPU_API_KEY'],
  [
    'dashscope',
    'https://dashscope.aliyuncs.com/compatible-mode/v1/chat/completions',
    'DASHSCOPE_API_KEY',
  ],
  ['minimax', 'https://api.minimax.io/v1/chat/completions', 'MINIMAX_API_KEY'],
  ['siliconflow', 'https://api.siliconflow.cn/v1/chat/completions', 'SILICONFLOW_API_KEY'],
  ['voyage', 'https://api.voyageai.com/v1/embeddings', 'VOYAGE_API_KEY'],
  ['jina', 'https://api.jina.ai/v1/embeddings', 'JINA_API_KEY'],
  ['cohere', 'https://api.cohere.com/v2/chat', 'COHERE_API_KEY'],
  [
    'bedrock',
    'https://bedrock-runtime.us-east-1.amazonaws.com/model/model-1/converse',
    'AWS_BEARER_TOKEN_BEDROCK',
  ],
  ['deepgram', 'https://api.deepgram.com', 'DEEPGRAM_API_KEY'],
  ['elevenlabs', 'https://api.elevenlabs.io', 'ELEVENLABS_API_KEY'],
  ['bfl', 'https://api.bfl.ai/v1/model-1', 'BFL_API_KEY'],
  ['stability', 'https://api.stability.ai/v2beta/stable-image/generate/sd3', 'STABILITY_API_KEY'],
  ['fal', 'https://queue.fal.run/model-1', 'FAL_KEY'],
  ['kling', 'https://api-singapore.klingai.com/v1/videos/text2video', 'KLING_API_KEY'],
  ['ollama', 'http://127.0.0.1:11434/v1/chat/completions', undefined],
  ['vllm', 'http://127.0.0.1:8000/v1/chat/completions', undefined],
  ['lmstudio', 'http://127.0.0.1:1234/v1/chat/completions', undefined],
  ['llamacpp', 'http://127.0.0.1:8080/v1/chat/completions', undefined],
  ['openai-compatible', 'https://operator.example/chat/completions', undefined],
  [
    'google',
    'https://generativelanguage.googleapis.com/v1beta/models/model-1:generateContent',
    'GEMINI_API_KEY',
  ],
  [
    'vertex',
    'https://aiplatform.googleapis.com/v1/publishers/google/models/model-1:generateContent',
    'GOOGLE_VERTEX_API_KEY',
  ],
  ['sandbox', 'http://sandbox.invalid/v1/chat/completions', undefined],
]

test('the registry holds exactly the vendors of the table, under their own ids', () => {
  expect(Object.keys(vendors)).toEqual(chat.map(([id]) => id))
  for (const [id, vendor] of Object.entries(vendors)) expect(vendor.id).toBe(id)
})

test.each(chat)('%s is called at %s', (id, address, environment) => {
  const vendor = vendorNamed(id)
  const [dialect = 'openai-chat'] = vendor.speaks
  expect(vendor.address({ dialect, model: 'model-1', stream: false }, settings(vendor))).toBe(
    address,
  )
  expect(vendor.environment).toBe(environment)
  expect(vendor.ownedBy).toMatch(/^[a-z0-9-]+$/)
  if (vendor.baseUrl !== null) expect(isBaseUrl(vendor.baseUrl)).toBeTrue()
})

/** The end of a call's path. */
const ends: Readonly<Partial<Record<VendorDialectId, string>>> = {
  'openai-chat': '/chat/completions',
  'openai-completions': '/completions',
  'openai-embeddings': '/embeddings',
  'openai-responses': '/responses',
  'openai-compaction': '/responses/compact',
  'anthropic-messages': '/messages',
  gemini: ':generateContent',
  'cohere-v2': '/v2/chat',
  'cohere-embed': '/v2/embed',
  'cohere-rerank': '/v2/rerank',
  'gemini-embeddings': ':batchEmbedContents',
  'bedrock-converse': '/model/a%2Fb/converse',
  'voyage-embeddings': '/embeddings',
  'voyage-rerank': '/rerank',
  'jina-rerank': '/rerank',
  'openai-images': '/images/generations',
  'openai-image-edits': '/images/edits',
  'openai-image-variations': '/images/variations',
  'openai-transcriptions': '/audio/transcriptions',
  'openai-translations': '/audio/translations',
  'openai-speech': '/audio/speech',
  'openai-moderations': '/moderations',
  'openai-realtime': '/realtime',
}

const signatures: Readonly<Record<string, readonly [string, string]>> = {
  'azure-openai': ['api-key', key],
  anthropic: ['x-api-key', key],
  google: ['x-goog-api-key', key],
  vertex: ['x-goog-api-key', key],
  deepgram: ['authorization', `Token ${key}`],
  elevenlabs: ['xi-api-key', key],
  bfl: ['x-key', key],
  fal: ['authorization', `Key ${key}`],
}

test.each(Object.keys(vendors))('%s signs in a header and never in the address', (id) => {
  const vendor = vendorNamed(id)
  const token = vendor.signature.token?.(settings(vendor), 0) ?? null
  const own = token === null ? [] : [['authorization', `Bearer ${token}`] as const]
  const headers = [...own, ...vendor.signature.headers(settings(vendor))]
  const unsigned = vendor.signature.headers(settings(vendor, { key: null }))
  const signature = signatures[id] ?? ['authorization', `Bearer ${key}`]
  expect(headers).toEqual([signature, ...unsigned])
  expect(unsigned).toEqual(id === 'anthropic' ? [['anthropic-version', '2023-06-01']] : [])
  for (const dialect of vendor.speaks) {
    const address = vendor.address({ dialect, model: 'a/b', stream: false }, settings(vendor))
    expect(address).not.toContain(key)
    // Its adapter knows the address.
    if (vendor.adapters?.[dialect] !== undefined) continue
    expect(new URL(address).pathname).toEndWith(ends[dialect] ?? 'a path of this test')
  }
})

test('a vendor without a key of its own needs none, any other needs one', () => {
  for (const vendor of Object.values(vendors)) {
    expect(vendor.keyless === true).toBe(vendor.environment === undefined)
    if (vendor.baseUrl === null) {
      expect(vendor.environment === undefined || vendor.environmentBaseUrl !== undefined).toBe(true)
    }
  }
  expect(vendorNamed('azure-openai').environmentBaseUrl).toBe('AZURE_OPENAI_ENDPOINT')
  expect(vendorNamed('zhipu').environmentElsewhere).toEqual({
    ZAI_API_KEY: 'https://api.z.ai/api/paas/v4',
  })
})

const host = 'https://res.openai.azure.com'
const azure: readonly (readonly [
  baseUrl: string,
  version: string,
  dialect: VendorDialectId,
  expected: string,
])[] = [
  [host, '', 'openai-chat', `${host}/openai/v1/chat/completions`],
  [host, 'v1', 'openai-embeddings', `${host}/openai/v1/embeddings`],
  [host, 'preview', 'openai-chat', `${host}/openai/v1/chat/completions?api-version=preview`],
  [`${host}/openai/v1`, '', 'openai-chat', `${host}/openai/v1/chat/completions`],
  [
    host,
    '2024-10-21',
    'openai-chat',
    `${host}/openai/deployments/my%20model/chat/completions?api-version=2024-10-21`,
  ],
  [
    `${host}/openai`,
    '2024-10-21',
    'openai-completions',
    `${host}/openai/deployments/my%20model/completions?api-version=2024-10-21`,
  ],
  [
    'https://res.services.ai.azure.com/models',
    '2024-05-01-preview',
    'openai-chat',
    'https://res.services.ai.azure.com/models/chat/completions?api-version=2024-05-01-preview',
  ],
  [
    'https://r.openai.azure.com',
    '',
    'openai-realtime',
    'https://r.openai.azure.com/openai/v1/realtime?model=my%20model',
  ],
  [
    'https://r.openai.azure.com/openai/v1',
    'preview',
    'openai-realtime',
    'https://r.openai.azure.com/openai/v1/realtime?api-version=preview&model=my%20model',
  ],
  [
    'https://r.openai.azure.com',
    '2024-10-01-preview',
    'openai-realtime',
    'https://r.openai.azure.com/openai/realtime?api-version=2024-10-01-preview&deployment=my%20model',
  ],
]

test.each(azure)('azure-openai: %s with version %p', (baseUrl, version, dialect, expected) => {
  const options: Record<string, string> = version === '' ? {} : { apiVersion: version }
  const address = vendorNamed('azure-openai').address(
    { dialect, model: 'my model', stream: false },
    { baseUrl, key, options },
  )
  expect(address).toBe(expected)
})
