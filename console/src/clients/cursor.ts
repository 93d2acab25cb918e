// Cursor: its requests come from Cursor's own servers.

import type { Client } from './client.ts'

export const cursor: Client = {
  id: 'cursor',
  name: 'Cursor',
  kind: 'agent',
  steps: ({ base, key, model }) => [
    {
      where: 'Cursor Settings, Models, API Keys',
      text: `OpenAI API Key: ${key}
Override OpenAI Base URL: ${base}/v1
Add Custom Model: ${model}`,
    },
  ],
}
