// n8n, by a credential of its OpenAI node.

import type { Client } from './client.ts'

export const n8n: Client = {
  id: 'n8n',
  name: 'n8n',
  kind: 'app',
  steps: ({ base, key, model }) => [
    {
      where: 'Credentials, Add credential, OpenAI',
      text: `API Key: ${key}
Base URL: ${base}/v1`,
    },
    { where: 'OpenAI Chat Model', text: `Model, by ID: ${model}` },
  ],
}
