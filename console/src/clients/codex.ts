// Codex, which only supports the Responses format, through a custom provider.

import { type Client, exported, quoted } from './client.ts'

export const codex: Client = {
  id: 'codex',
  name: 'Codex CLI',
  kind: 'agent',
  steps: ({ base, key, model }) => [
    {
      where: '~/.codex/config.toml',
      text: `model = ${quoted(model)}
model_provider = "tollgate"

[model_providers.tollgate]
name = "Tollgate"
base_url = ${quoted(`${base}/v1`)}
env_key = "TOLLGATE_KEY"
wire_api = "responses"`,
    },
    { where: null, text: `${exported({ TOLLGATE_KEY: key })}\ncodex` },
  ],
}
