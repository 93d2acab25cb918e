// Abilities of models besides chat, as their makers publish them, whoever serves the model.

// The patterns match the model's own name, which may be any part of a path. They follow the makers' guides as known on
// 2026-11-22, not read again for these lists, which only serve display: no request is refused by them.

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

/** Models that follow a given schema, not those that only promise JSON of some shape. */
const keepers: readonly RegExp[] = [
  /^claude-(opus-4-[1-9]|(sonnet|haiku)-4-[5-9]|[a-z]+-[5-9])(-|$)/,
  /^gpt-4o(?!-2024-05-13|-audio)/,
  /^gpt-(4\.1|[5-9])/,
  /^o(1|3|3-mini|4-mini)$/,
  /^gemini-[2-9]/,
  /^grok-[3-9]/,
  /^mistral-(large|medium|small)|^ministral-/,
  /^sonar/,
  /^command-(a-|r7b-|r-08|r-plus-08)/,
]

/** Whether the model takes tools: true, or null where that is not known. */
export function takesTools(id: string): true | null {
  return isAmong(takers, id)
}

/** Whether the model's JSON follows a given schema (`response_format`): true, or null where that is not known. */
export function keepsToSchema(id: string): true | null {
  return isAmong(keepers, id)
}

function isAmong(names: readonly RegExp[], id: string): true | null {
  const parts = id.toLowerCase().split(/[/:]|(?<=[a-z])\.(?=[a-z])/)
  return parts.some((part) => names.some((name) => name.test(part))) || null
}
