// Which models are known to take tools, whoever serves them: by what their makers publish.

/**
 * By the model's own name, wherever it stands in a path. As their makers' guides to tools have it, known on 2026-11-22 and
 * not read again for this list: it is shown to people, and no request is refused by it.
 */
const takers: readonly RegExp[] = [
  /^claude-/,
  /^gpt-(4o|4\.1|[5-9])/,
  /^o[134](-|$)/,
  /^gemini-[2-9]/,
  /^grok-[3-9]/,
  /^mistral-(large|medium|small)|^(ministral|magistral|devstral|codestral)-/,
  /^deepseek-chat/,
  /^command-(a|r)/,
  /^sandbox$/,
]

/** true: it does. null: not known. */
export function takesTools(id: string): true | null {
  const parts = id.toLowerCase().split(/[/:]|(?<=[a-z])\.(?=[a-z])/)
  return parts.some((part) => takers.some((name) => name.test(part))) || null
}
