// aider, which finds the format of a model by the part of its name before the slash.

import { type Client, exported, word } from './client.ts'

export const aider: Client = {
  id: 'aider',
  name: 'aider',
  kind: 'agent',
  steps: ({ base, key, model }) => [
    {
      where: null,
      text: `${exported({ OPENAI_API_BASE: `${base}/v1`, OPENAI_API_KEY: key })}
aider --model ${word(`openai/${model}`)}`,
    },
  ],
}
