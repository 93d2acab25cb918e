// The bodies of GET /v1/models: one that the OpenAI, Anthropic and Codex clients all accept, and Anthropic's own.

import type { Model } from '../../catalog/model.ts'
import { invalidRequest } from '../../errors.ts'

/** Instructions that the Codex CLI gives a model for which it has none of its own. */
const codexInstructions =
  "You are a careful coding agent working in a terminal on the user's machine. Read the code before you change it, " +
  'keep changes small and in the style around them, run the tests that cover them, and say plainly what you did, ' +
  'what you checked and what remains.'

function openaiEntry(model: Model): Record<string, unknown> {
  return {
    id: model.id,
    object: 'model',
    created: model.createdAt,
    owned_by: model.ownedBy,
    ...(model.context === null ? {} : { context_window: model.context }),
    // Anthropic's clients read these three beside the id.
    type: 'model',
    display_name: model.id,
    created_at: new Date(model.createdAt * 1000).toISOString().replace('.000Z', 'Z'),
  }
}

/** The fields that the decoder of openai/codex, codex-rs/protocol, `ModelInfo`, requires. */
function codexEntry(model: Model, priority: number): Record<string, unknown> {
  return {
    slug: model.id,
    display_name: model.id,
    description: null,
    supported_reasoning_levels: [],
    shell_type: 'shell_command',
    visibility: 'list',
    supported_in_api: true,
    priority,
    upgrade: null,
    base_instructions: codexInstructions,
    supports_reasoning_summaries: false,
    support_verbosity: false,
    default_verbosity: null,
    apply_patch_tool_type: null,
    truncation_policy: { mode: 'bytes', limit: 10_000 },
    supports_parallel_tool_calls: true,
    ...(model.context === null ? {} : { context_window: model.context }),
    experimental_supported_tools: [],
    input_modalities: model.vision ? ['text', 'image'] : ['text'],
  }
}

/** The body for these models, in their order. */
export function modelList(models: readonly Model[]): string {
  const chat = models.filter((model) => model.kind === 'chat')
  return JSON.stringify({
    object: 'list',
    data: models.map(openaiEntry),
    first_id: models[0]?.id ?? null,
    last_id: models.at(-1)?.id ?? null,
    has_more: false,
    models: chat.map(codexEntry),
  })
}

/** An entry in Anthropic's form ("Get a Model"). */
function anthropicEntry(model: Model): Record<string, unknown> {
  return {
    type: 'model',
    id: model.id,
    display_name: model.id,
    created_at: new Date(model.createdAt * 1000).toISOString().replace('.000Z', 'Z'),
    max_input_tokens: model.context,
    max_tokens: model.maxOutput,
  }
}

const pageDefault = 20
const pageMost = 1_000

/**
 * A page in Anthropic's form ("List Models"): `limit`, `after_id`, `before_id`. Throws GatewayError for a bad limit.
 */
export function anthropicModelList(models: readonly Model[], query: URLSearchParams): string {
  const text = query.get('limit')
  const limit = text === null ? pageDefault : Number(text)
  if (!Number.isInteger(limit) || limit < 1 || limit > pageMost) {
    throw invalidRequest(`limit must be an integer between 1 and ${pageMost}`, 'limit')
  }
  const place = (name: string): number | null => {
    const id = query.get(name)
    return id === null ? null : models.findIndex((model) => model.id === id)
  }
  const after = place('after_id')
  const before = place('before_id')
  const end = before === null || before < 0 ? models.length : before
  const start = after !== null ? after + 1 : before === null ? 0 : Math.max(0, end - limit)
  const page = models.slice(start, Math.min(end, start + limit))
  return JSON.stringify({
    data: page.map(anthropicEntry),
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
    has_more: before !== null && after === null ? start > 0 : start + page.length < end,
  })
}

export function anthropicModelObject(model: Model): string {
  return JSON.stringify(anthropicEntry(model))
}

export function modelObject(model: Model): string {
  return JSON.stringify(openaiEntry(model))
}
