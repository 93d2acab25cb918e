// opencode, which needs each model of a custom provider listed.

import type { Client } from './client.ts'

export const opencode: Client = {
  id: 'opencode',
  name: 'OpenCode',
  kind: 'agent',
  steps: ({ base, key, model }) => {
    const provider = {
      npm: '@ai-sdk/openai-compatible',
      name: 'Tollgate',
      options: { baseURL: `${base}/v1`, apiKey: key },
      models: { [model]: { name: model } },
    }
    const file = {
      $schema: 'https://opencode.ai/config.json',
      provider: { tollgate: provider },
      model: `tollgate/${model}`,
    }
    return [{ where: 'opencode.json', text: JSON.stringify(file, null, 2) }]
  },
}
