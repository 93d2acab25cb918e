// Gemini CLI adds /v1beta itself: its address has no path.

import { type Client, exported, word } from './client.ts'

export const geminiCli: Client = {
  id: 'gemini-cli',
  name: 'Gemini CLI',
  kind: 'agent',
  steps: ({ base, key, model }) => [
    {
      where: '~/.gemini/settings.json',
      text: '{ "security": { "auth": { "selectedType": "gemini-api-key" } } }',
    },
    {
      where: null,
      text: `${exported({ GOOGLE_GEMINI_BASE_URL: base, GEMINI_API_KEY: key })}
gemini --model ${word(model)}`,
    },
  ],
}
