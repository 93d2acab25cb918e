// One body for GET /v1/models that the OpenAI, Anthropic and Codex clients all accept.

import type { Catalog, Model } from '../catalog/model.ts'

/** What the Codex CLI tells a model it has no instructions of its own for. */
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
    // Anthropic's clients read these three beside the id.
    type: 'model',
    display_name: model.id,
    created_at: new Date(model.createdAt * 1000).toISOString().replace('.000Z', 'Z'),
  }
}

/** The fields of openai/codex, codex-rs/protocol, `ModelInfo` that its decoder requires. */
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

/** The list of these models, in their order. */
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

export function modelObject(model: Model): string {
  return JSON.stringify(openaiEntry(model))
}

/** A model by name, assumed where a channel serves it but nobody described it. */
export function describe(catalog: Catalog, id: string, ownedBy: string): Model {
  return catalog.find(id) ?? catalog.assume(id, ownedBy)
}
