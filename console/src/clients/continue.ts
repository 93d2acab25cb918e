// Continue: capabilities are set explicitly, since it guesses them from names it knows.

import { type Client, quoted } from './client.ts'

export const continueDev: Client = {
  id: 'continue',
  name: 'Continue',
  kind: 'agent',
  steps: ({ base, key, model }) => [
    {
      where: '~/.continue/config.yaml',
      text: `name: Tollgate
version: 1.0.0
schema: v1
models:
  - name: ${quoted(model)}
    provider: openai
    model: ${quoted(model)}
    apiBase: ${quoted(`${base}/v1`)}
    apiKey: ${quoted(key)}
    roles: [chat, edit, apply]
    capabilities: [tool_use]`,
    },
  ],
}
