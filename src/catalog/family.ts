// The owner of a model: one label for each family, whoever serves it and however its name is spelt.

/** Matches the model's own name, which may be any part of a path. */
const families: readonly (readonly [name: RegExp, label: string])[] = [
  [/^claude/, 'anthropic'],
  [
    /^(gpt-(\d|oss|image|transcribe|realtime|audio)|chatgpt-|o[134](-|$)|dall-e|sora|whisper|tts-1|text-embedding-(3|ada)|omni-moderation|text-moderation)/,
    'openai',
  ],
  [/^(davinci|babbage)-002/, 'openai'],
  [/^(gemini|gemma|veo|imagen|nano-banana)/, 'google'],
  [/^grok/, 'xai'],
  [/^deepseek/, 'deepseek'],
  [/^(open-)?(mistral|mixtral|magistral|ministral|codestral|devstral|voxtral|pixtral)/, 'mistral'],
  [/^(kimi|moonshot)/, 'moonshot'],
  [/^(zai-)?glm-/, 'zhipu'],
  [/^(qwen|qwq|wan\d)/, 'qwen'],
  [/^minimax/, 'minimax'],
  [/^(meta-)?llama/, 'meta-llama'],
  [/^flux/, 'black-forest-labs'],
  [/^(stable-(diffusion|image)|sd3)/, 'stability'],
  [/^kling/, 'kling'],
  [/^seed(ance|ream)/, 'bytedance'],
]

/** Labels by other spellings of a maker's name. */
const makers: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'deepseek-ai': 'deepseek',
    'fal-ai': 'fal',
    meta: 'meta-llama',
    minimaxai: 'minimax',
    mistralai: 'mistral',
    moonshotai: 'moonshot',
    stabilityai: 'stability',
    'x-ai': 'xai',
    'z-ai': 'zhipu',
    'zai-org': 'zhipu',
  }),
)

/**
 * The label of the model's family, else its maker's where the name is `maker/model` (no longer path), else `otherwise`.
 * Always in lower case.
 */
export function ownerOf(id: string, otherwise: string): string {
  // In `global.anthropic.claude-opus-5` or `fal-ai/flux/dev` any part may be the model's own name.
  const parts = id.toLowerCase().split(/[/]|(?<=[a-z])\.(?=[a-z])/)
  for (const [name, label] of families) if (parts.some((part) => name.test(part))) return label
  const [maker, ...rest] = id.toLowerCase().split('/')
  if (rest.length !== 1 || !maker) return otherwise
  return makers.get(maker) ?? maker
}
