// Members of requests that decide what they may cost, in every spelling that some vendor reads.

/** How long a reply may be, as OpenAI's formats, Anthropic's, TGI, vLLM, llama.cpp, Ollama, Llama and Titan say it. */
export const limitNames: readonly string[] = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_new_tokens',
  'max_length',
  'max_gen_len',
  'max_generation_tokens',
  'max_tokens_to_sample',
  'tokens_to_generate',
  'n_predict',
  'num_predict',
  'maxTokens',
  'maxCompletionTokens',
  'maxOutputTokens',
  'maxNewTokens',
  'maxLength',
  'maxTokenCount',
  'numPredict',
]
/** How long it must be. */
export const leastNames: readonly string[] = [
  'min_tokens',
  'min_new_tokens',
  'min_output_tokens',
  'min_length',
  'minTokens',
]
/** How much may be thought before the reply, beside its limit: DashScope, SiliconFlow and servers like theirs. */
export const thoughtNames: readonly string[] = [
  'thinking_budget',
  'thinkingBudget',
  'max_thinking_tokens',
  'reasoning_budget',
]
/** How many replies are made. */
export const countNames: readonly string[] = [
  'n',
  'best_of',
  'bestOf',
  'candidate_count',
  'candidateCount',
  'num_choices',
  'num_completions',
  'num_generations',
  'num_return_sequences',
  'num_samples',
]
/** Objects in which vendors and relays look for settings, those above among them. */
export const settingsNames: readonly string[] = [
  'options',
  'parameters',
  'extra_body',
  'generation_config',
  'generationConfig',
  'inference_config',
  'inferenceConfig',
  'sampling_params',
]
/** Other models than the one that is paid for, as OpenRouter and LiteLLM take them. */
export const modelNames: readonly string[] = ['models', 'fallbacks', 'fallback_models', 'preset']
export const tierNames: readonly string[] = ['service_tier', 'serviceTier', 'speed']
/** Anthropic: where the work is done, at a price of its own. */
export const placeNames: readonly string[] = ['inference_geo']

/** Tiers at no more than the standard price; of OpenAI's `auto` and Anthropic's the account decides, as where none is named. */
export const standardTiers: ReadonlySet<string> = new Set([
  'auto',
  'default',
  'standard',
  'standard_only',
  'on_demand',
  'flex',
])
