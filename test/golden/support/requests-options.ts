// Requests with all fields beside the messages: sampling, limits, the reply format, reasoning, hints.

import type { Asked } from './asked.ts'

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'number', minimum: -90 } },
  required: ['city', 'degrees'],
  additionalProperties: false,
}

export const optionRequests: Readonly<Record<string, Asked>> = {
  sampling: { temperature: 0.5, topP: 0.9 },
  'sampling-warm': { temperature: 1.7, topP: 0.999 },
  'sampling-cold': { temperature: 0, topP: 0 },
  'limit-great': { maxOutputTokens: 1_000_000 },
  stop: { stop: ['END'] },
  'stop-many': { stop: ['1', '2', '3', '4', '5', '6'] },
  'stop-blank': { stop: ['\n\n', 'END'] },
  'choices-2': { choices: 2 },
  'choices-1': { choices: 1 },
  logprobs: { logprobs: 3 },
  'modalities-text': { modalities: ['text'] },
  'modalities-image': { modalities: ['text', 'image'] },
  'modalities-audio': { modalities: ['text', 'audio'] },
  'format-text': { responseFormat: { type: 'text' } },
  'format-json': { responseFormat: { type: 'json' } },
  'format-schema': {
    responseFormat: {
      type: 'schema',
      name: 'report',
      description: 'Of today.',
      schema,
      strict: true,
    },
  },
  'format-schema-and-tools': {
    responseFormat: { type: 'schema', name: 'report', schema },
    tools: [{ type: 'function', name: 'clock' }],
  },
  'format-recursive-and-forced-call': {
    responseFormat: {
      type: 'schema',
      name: 'tree',
      schema: {
        type: 'object',
        properties: { child: { $ref: '#' } },
        required: ['child'],
        additionalProperties: false,
      },
    },
    tools: [{ type: 'function', name: 'clock' }],
    toolChoice: { mode: 'required' },
  },
  'effort-none': { reasoning: { effort: 'none' } },
  'effort-minimal': { reasoning: { effort: 'minimal' } },
  'effort-high': { reasoning: { effort: 'high' }, maxOutputTokens: 4_000 },
  'effort-max': { reasoning: { effort: 'max' } },
  'effort-and-sampling': { reasoning: { effort: 'low' }, temperature: 0.5, topP: 0.99, topK: 5 },
  'effort-and-forced-call': {
    reasoning: { effort: 'low' },
    tools: [{ type: 'function', name: 'clock' }],
    toolChoice: { mode: 'required' },
  },
  'thinking-budget': { reasoning: { budgetTokens: 2_000 }, maxOutputTokens: 1_000 },
  'thinking-adaptive': { reasoning: { adaptive: true, effort: 'medium' } },
  'thinking-shown': { reasoning: { effort: 'low', show: 'detailed' } },
  hints: {
    topK: 40,
    seed: 7,
    frequencyPenalty: 0.5,
    presencePenalty: -0.5,
    logitBias: { '50256': -100 },
    user: 'ann',
    verbosity: 'low',
    metadata: { trace: '1' },
    promptCacheKey: 'key-1',
  },
  'tier-default': { serviceTier: 'default' },
  'tier-priority': { serviceTier: 'priority' },
  'field-of-another': { extra: { 'some-dialect': { safety_settings: [] } } },
}
