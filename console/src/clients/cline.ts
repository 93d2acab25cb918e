// Cline, on the command line and in an editor; Roo Code and Kilo Code have the same fields.

import { type Client, word } from './client.ts'

export const cline: Client = {
  id: 'cline',
  name: 'Cline',
  kind: 'agent',
  steps: ({ base, key, model }) => [
    {
      where: 'Settings, API Configuration',
      text: `API Provider: OpenAI Compatible
Base URL: ${base}/v1
OpenAI Compatible API Key: ${key}
Model ID: ${model}`,
    },
    {
      where: null,
      text: `cline auth openai --apikey ${word(key)} --modelid ${word(model)} --baseurl ${word(`${base}/v1`)}`,
    },
  ],
}
