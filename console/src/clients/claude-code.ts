// Claude Code adds /v1/messages itself: its address has no /v1.

import { type Client, exported, word } from './client.ts'

export const claudeCode: Client = {
  id: 'claude-code',
  name: 'Claude Code',
  kind: 'agent',
  steps: ({ base, key, model }) => {
    const variables = exported({
      ANTHROPIC_BASE_URL: base,
      ANTHROPIC_AUTH_TOKEN: key,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    })
    return [{ where: null, text: `${variables}\nclaude --model ${word(model)}` }]
  },
}
