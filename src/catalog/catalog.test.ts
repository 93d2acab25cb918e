// Tests that the catalogue answers with the shipped data and the operator's changes, and guesses only if asked to.

import { describe, expect, test } from 'bun:test'
import type { ModelConfig } from '../config/types.ts'
import { createCatalog } from './catalog.ts'

const unset: ModelConfig = {
  kind: null,
  context: null,
  maxOutput: null,
  vision: null,
  ownedBy: null,
  prices: null,
  timeouts: {},
}
const hosted = [
  'openai',
  'azure-openai',
  'xai',
  'deepseek',
  'mistral',
  'groq',
  'openrouter',
  'together',
  'fireworks',
  'cerebras',
  'perplexity',
  'moonshot',
  'zhipu',
  'dashscope',
  'minimax',
  'siliconflow',
  'cohere',
  'bedrock',
]

describe('shipped models', () => {
  const catalog = createCatalog({})

  test('every hosted vendor ships chat models, local ones ship none', () => {
    for (const vendor of hosted) {
      expect(catalog.ofVendor(vendor).some(({ kind }) => kind === 'chat')).toBe(true)
    }
    for (const vendor of [
      'ollama',
      'vllm',
      'lmstudio',
      'llamacpp',
      'openai-compatible',
      'toString',
    ]) {
      expect(catalog.ofVendor(vendor)).toEqual([])
    }
  })

  test('are whole: sensible windows, lower-case owners, the same entry under the name', () => {
    for (const vendor of [...hosted, 'sandbox']) {
      const models = catalog.ofVendor(vendor)
      expect(new Set(models.map(({ id }) => id)).size).toBe(models.length)
      for (const model of models) {
        expect(model.ownedBy).toMatch(/^[a-z0-9-]+$/)
        expect(model.context ?? 4_096).toBeGreaterThanOrEqual(4_096)
        expect(model.maxOutput ?? 0).toBeLessThanOrEqual(model.context ?? 0)
        expect(Number.isInteger(model.createdAt)).toBe(true)
        expect(Object.isFrozen(model)).toBe(true)
        expect(catalog.find(model.id)?.kind).toBe(model.kind)
      }
    }
  })

  test('say what they are', () => {
    expect(catalog.find('gpt-4o')).toMatchObject({
      context: 128_000,
      vision: true,
      ownedBy: 'openai',
    })
    expect(catalog.find('gpt-3.5-turbo-instruct')?.kind).toBe('completion')
    expect(catalog.find('text-embedding-3-small')?.kind).toBe('embedding')
    expect(catalog.find('o3')).toMatchObject({
      reasoning: true,
      timeouts: { firstEventMs: 300_000 },
    })
    expect(catalog.find('gpt-4o')?.reasoning).toBeNull()
    expect(catalog.find('meta-llama/Llama-3.3-70B-Instruct-Turbo')?.ownedBy).toBe('meta-llama')
    expect(catalog.find('accounts/fireworks/models/gpt-oss-20b')?.ownedBy).toBe('openai')
    expect(catalog.find('constructor')).toBeNull()
  })

  test('of pictures, sound and films are of these kinds, and answer what else they can', () => {
    const kinds = {
      'dall-e-2': 'image',
      'gpt-image-1.5': 'image',
      'gemini-3-pro-image': 'image',
      'flux-2-pro': 'image',
      'qwen-image': 'image',
      'stable-image-ultra': 'image',
      'fal-ai/flux/dev': 'image',
      'grok-imagine-image': 'image',
      'sora-2': 'video',
      'veo-3.1-generate-001': 'video',
      'kling-v2-6': 'video',
      'wan2.7-t2v': 'video',
      'MiniMax-Hailuo-02': 'video',
      'whisper-1': 'transcription',
      'whisper-large-v3': 'transcription',
      'nova-3': 'transcription',
      scribe_v2: 'transcription',
      'tts-1': 'speech',
      eleven_v3: 'speech',
      'aura-2-thalia-en': 'speech',
      'omni-moderation-latest': 'moderation',
      'gpt-realtime': 'realtime',
    } as const
    for (const [id, kind] of Object.entries(kinds)) expect(catalog.find(id)?.kind, id).toBe(kind)
    expect(catalog.find('gemini-2.5-flash-image')?.also).toEqual(['chat'])
    expect(catalog.find('gemini-2.5-flash')).toMatchObject({
      kind: 'chat',
      also: ['transcription'],
    })
  })

  test('the sandbox has one of each kind it serves', () => {
    const kinds = catalog.ofVendor('sandbox').map(({ id, kind, vision }) => [id, kind, vision])
    expect(kinds).toEqual([
      ['sandbox/chat', 'chat', true],
      ['sandbox/reasoning', 'chat', false],
      ['sandbox/completion', 'completion', false],
      ['sandbox/embedding', 'embedding', false],
      ['sandbox/image', 'image', false],
      ['sandbox/transcription', 'transcription', false],
      ['sandbox/speech', 'speech', false],
      ['sandbox/moderation', 'moderation', false],
      ['sandbox/video', 'video', false],
      ['sandbox/realtime', 'realtime', false],
    ])
  })
})

describe('declared models', () => {
  test('change a shipped one only in what they say, everywhere it is shown', () => {
    const prices = { input: '1', output: '2' }
    const { find: findPainter } = createCatalog({
      'gemini-2.5-flash-image': { ...unset, kind: 'chat' },
    })
    expect(findPainter('gemini-2.5-flash-image')).toMatchObject({ kind: 'chat', also: [] })
    const catalog = createCatalog({
      'gpt-4o': { ...unset, prices },
      o3: { ...unset, vision: false, maxOutput: 5, ownedBy: 'us', timeouts: { idleMs: 7 } },
    })
    const { find } = createCatalog({})
    expect(catalog.find('gpt-4o')).toEqual(find('gpt-4o'))
    const changed = { vision: false, maxOutput: 5, ownedBy: 'us', context: 200_000 }
    expect(catalog.find('o3')).toMatchObject(changed)
    expect(catalog.find('o3')?.timeouts).toEqual({ firstEventMs: 300_000, idleMs: 7 })
    for (const vendor of ['openai', 'azure-openai']) {
      expect(catalog.ofVendor(vendor).find(({ id }) => id === 'o3')).toMatchObject(changed)
    }
  })

  test('may be new, under names with / : and @', () => {
    const names = ['ours', 'acme/big:free', 'acme/big@2026-01', 'gpt:4@x', '__proto__']
    const declared: Record<string, ModelConfig> = Object.create(null)
    for (const name of names) declared[name] = { ...unset, context: 99 }
    const catalog = createCatalog(declared, (id) => (id === 'ours' ? 'ollama' : null))
    for (const id of names) {
      expect(catalog.find(id)).toMatchObject({ id, kind: 'chat', context: 99, vision: false })
    }
    expect(catalog.find('ours')?.ownedBy).toBe('ollama')
    expect(catalog.find('acme/big:free')?.ownedBy).toBe('acme')
  })
})

test('a declared beginning speaks for names nobody described, the longest first', () => {
  const declared: Record<string, ModelConfig> = {
    '*': { ...unset, context: 1 },
    'acme/*': { ...unset, kind: 'rerank', context: 2, ownedBy: 'us', vision: false },
    'acme/big*': { ...unset, maxOutput: 3, timeouts: { idleMs: 4 } },
    'acme/bigger': { ...unset, context: 5 },
    'gpt-*': { ...unset, context: 6 },
  }
  const { find, assume, ofVendor } = createCatalog(declared)
  expect(assume('acme/small', 'x')).toMatchObject({
    id: 'acme/small',
    kind: 'rerank',
    context: 2,
    ownedBy: 'us',
    vision: false,
  })
  const big = { kind: 'chat', context: null, maxOutput: 3, timeouts: { idleMs: 4 }, ownedBy: 'x' }
  expect(assume('acme/big-1', 'x')).toMatchObject(big)
  expect(assume('embed-1', 'x')).toMatchObject({ kind: 'embedding', context: 1 })
  expect(find('acme/bigger')).toMatchObject({ context: 5, kind: 'chat' })
  expect(find('acme/big*')).toBeNull()
  expect(find('*')).toBeNull()
  expect(find('gpt-4o')?.context).toBe(128_000)
  expect(ofVendor('openai').some(({ context }) => context === 6)).toBe(false)
})

test('a name nobody described is taken by its name, and images are left to the vendor', () => {
  const { assume } = createCatalog({})
  const kinds = {
    'llama3.2:latest': 'chat',
    'nomic-embed-text': 'embedding',
    'BAAI/bge-m3': 'embedding',
    'bge-reranker-v2': 'rerank',
    'whisper-1': 'transcription',
    'tts-1-hd': 'speech',
    'dall-e-3': 'image',
    'omni-moderation-latest': 'moderation',
    'gpt-3.5-turbo-instruct-0914': 'completion',
    'gpt-realtime-2027-01-01': 'realtime',
    'openai/sora-2': 'video',
    'veo-4-generate': 'video',
    'wan4.0-t2v-plus': 'video',
    'black-forest-labs/flux-schnell': 'image',
    'wan4.0-t2i': 'image',
    eleven_v9: 'speech',
    scribe_v9: 'transcription',
    'amazon.nova-pro-v1:0': 'chat',
  } as const
  for (const [id, kind] of Object.entries(kinds))
    expect(assume(id, 'x')).toMatchObject({ id, kind })
  expect(assume('sandbox/image+fault=429', 'x').kind).toBe('image')
  expect(assume('sandbox/none+fault=429', 'x').kind).toBe('chat')
  expect(assume('llava', 'ollama')).toMatchObject({
    ownedBy: 'ollama',
    vision: true,
    context: null,
  })
})
