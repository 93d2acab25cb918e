// Request members that decide the cost, in every spelling that some vendor reads.

/**
 * Largest length of a reply, as named by OpenAI's formats, Anthropic, TGI, vLLM, llama.cpp, Ollama, Llama and Titan.
 */
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
/** Least length of a reply. */
export const leastNames: readonly string[] = [
  'min_tokens',
  'min_new_tokens',
  'min_output_tokens',
  'min_length',
  'minTokens',
]
/** Tokens for thinking before the reply, not counted in its limit: DashScope, SiliconFlow and similar servers. */
export const thoughtNames: readonly string[] = [
  'thinking_budget',
  'thinkingBudget',
  'max_thinking_tokens',
  'reasoning_budget',
]
/** Number of replies. */
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
/** Objects in which vendors and relays look for settings, including those above. */
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
/** Models other than the priced one, as OpenRouter and LiteLLM accept them. */
export const modelNames: readonly string[] = ['models', 'fallbacks', 'fallback_models', 'preset']
export const tierNames: readonly string[] = ['service_tier', 'serviceTier', 'speed']
/** Anthropic: the place of inference, which has prices of its own. */
export const placeNames: readonly string[] = ['inference_geo']

/**
 * Tiers at no more than the standard price. With OpenAI's `auto` and Anthropic's, the vendor account decides the tier,
 * as where none is named.
 */
export const standardTiers: ReadonlySet<string> = new Set([
  'auto',
  'default',
  'standard',
  'standard_only',
  'on_demand',
  'flex',
])
