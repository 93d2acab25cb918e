// Finds the vendor, the address and the key of a deployment in a configuration of LiteLLM's proxy, whose `model` begins
// with the name of a provider (https://docs.litellm.ai/docs/providers).

import type { JsonObject, JsonValue } from '../wire/ir.ts'

export interface Found {
  readonly channel: { readonly vendor: string } & JsonObject
  /** The vendor's name of the model. */
  readonly model: string
  /** The key, where it is not `api_key` alone. */
  readonly key?: JsonValue | undefined
  /** The parameters that this was read from. */
  readonly used: readonly string[]
}

/** `os.environ/NAME` becomes `${NAME}`. */
export function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string' || value === '') return undefined
  const [, variable] = /^os\.environ\/(\w+)$/.exec(value) ?? []
  return variable === undefined ? value.replaceAll('${', () => '$${') : `\${${variable}}`
}

/** Vendors by the provider's name. */
export const providers: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    openai: 'openai',
    'text-completion-openai': 'openai',
    azure: 'azure-openai',
    anthropic: 'anthropic',
    gemini: 'google',
    vertex_ai: 'vertex',
    vertex_ai_beta: 'vertex',
    bedrock: 'bedrock',
    mistral: 'mistral',
    groq: 'groq',
    deepseek: 'deepseek',
    xai: 'xai',
    openrouter: 'openrouter',
    together_ai: 'together',
    fireworks_ai: 'fireworks',
    cerebras: 'cerebras',
    perplexity: 'perplexity',
    moonshot: 'moonshot',
    zai: 'zhipu',
    dashscope: 'dashscope',
    minimax: 'minimax',
    cohere: 'cohere',
    cohere_chat: 'cohere',
    voyage: 'voyage',
    jina_ai: 'jina',
    deepgram: 'deepgram',
    elevenlabs: 'elevenlabs',
    ollama: 'ollama',
    ollama_chat: 'ollama',
    hosted_vllm: 'vllm',
    lm_studio: 'lmstudio',
    custom_openai: 'openai-compatible',
    openai_like: 'openai-compatible',
    litellm_proxy: 'openai-compatible',
  }),
)

/** Providers of models without one before their name. */
const beginnings: readonly (readonly [begins: RegExp, provider: string])[] = [
  [/^(gpt-|chatgpt-|o\d|text-embedding-|dall-e|whisper|tts-|omni-moderation)/, 'openai'],
  [/^claude/, 'anthropic'],
  [/^(command|embed-|rerank-)/, 'cohere'],
  [/^mistral-/, 'mistral'],
  [/^deepseek-/, 'deepseek'],
]

/** The text says why there is no vendor for it. */
export function vendorOf(params: JsonObject): Found | string {
  const whole = String(params['model'])
  const [before = '', ...rest] = whole.split('/')
  const given = params['custom_llm_provider']
  const named = rest.length > 0 ? before : beginnings.find(([begins]) => begins.test(whole))?.[1]
  const provider = typeof given === 'string' ? given : named
  if (provider === undefined) return `does not tell the provider of ${whole}`
  const vendor = providers.get(provider)
  if (vendor === undefined) return `has a provider without a vendor here: ${provider}`
  const model = rest.length > 0 && before === provider ? rest.join('/') : whole
  const address = textOf(params['api_base']) ?? textOf(params['base_url'])
  const more = details.get(vendor)?.(params, model, address) ?? {}
  const baseUrl = more.baseUrl ?? address
  const isElsewhere = vendor === 'openai' && address !== undefined && !isOpenai(address)
  return {
    channel: {
      vendor: isElsewhere ? 'openai-compatible' : vendor,
      ...(baseUrl !== undefined && { baseUrl }),
      ...(more.options !== undefined && { options: more.options }),
    },
    model: more.model ?? model,
    key: more.key,
    used: ['api_base', 'base_url', ...(more.used ?? [])],
  }
}

function isOpenai(address: string): boolean {
  return /^https:\/\/api\.openai\.com(\/|$)/.test(address)
}

interface Details {
  readonly baseUrl?: string | undefined
  readonly model?: string
  readonly key?: JsonValue | undefined
  readonly options?: JsonObject
  readonly used?: readonly string[]
}

type DetailsOf = (params: JsonObject, model: string, address: string | undefined) => Details

/** The given parameters by the names of options. */
function optionsOf(
  params: JsonObject,
  names: Readonly<Record<string, string>>,
): Pick<Details, 'options' | 'used'> {
  const options = Object.entries(names).flatMap(([from, to]) => {
    const value = textOf(params[from])
    return value === undefined ? [] : [[to, value] as const]
  })
  const used = Object.keys(names)
  return options.length === 0 ? { used } : { options: Object.fromEntries(options), used }
}

const details: ReadonlyMap<string, DetailsOf> = new Map(
  Object.entries<DetailsOf>({
    'azure-openai': (params) => optionsOf(params, { api_version: 'apiVersion' }),
    bedrock(params, model) {
      const names = ['aws_access_key_id', 'aws_secret_access_key', 'aws_session_token']
      const parts = names.flatMap((name) => textOf(params[name]) ?? [])
      const { options, used = [] } = optionsOf(params, { aws_region_name: 'region' })
      return {
        // A name may say by which of Bedrock's operations the model is asked.
        model: model.replace(/^(?:converse|converse_like|invoke)\//, ''),
        key: parts.length >= 2 ? parts.join(':') : undefined,
        ...(options !== undefined && { options }),
        used: [...used, ...names],
      }
    },
    vertex(params) {
      const { options, used = [] } = optionsOf(params, {
        vertex_project: 'project',
        vertex_location: 'region',
      })
      return {
        key: credentialsOf(textOf(params['vertex_credentials'])),
        ...(options !== undefined && { options }),
        used: [...used, 'vertex_credentials'],
      }
    },
    zhipu: (_params, _model, address) => ({ baseUrl: address ?? 'https://api.z.ai/api/paas/v4' }),
    ollama: (_params, _model, address) => ({
      baseUrl: address === undefined || /\/v1\/?$/.test(address) ? address : `${bare(address)}/v1`,
    }),
  }),
)

/** The JSON of a service account, or the path of its file. */
function credentialsOf(text: string | undefined): JsonValue | undefined {
  return text === undefined || /^[{$]/.test(text) ? text : { file: text }
}

function bare(address: string): string {
  return address.replace(/\/+$/, '')
}
