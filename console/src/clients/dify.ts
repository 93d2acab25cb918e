// Dify, by its plugin for OpenAI-compatible servers.

import type { Client } from './client.ts'

export const dify: Client = {
  id: 'dify',
  name: 'Dify',
  kind: 'app',
  steps: ({ base, key, model }) => [
    {
      where: 'Settings, Model Provider, OpenAI-API-compatible, Add Model',
      text: `Model Name: ${model}
API Key: ${key}
API endpoint URL: ${base}/v1
Completion mode: Chat`,
    },
  ],
}
