// The official OpenAI package for JavaScript and TypeScript.

import { type Client, quoted } from './client.ts'

export const openaiJs: Client = {
  id: 'openai-js',
  name: 'OpenAI JavaScript',
  kind: 'code',
  steps: ({ base, key, model }) => [
    { where: null, text: 'npm install openai' },
    {
      where: 'hello.mjs',
      text: `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: ${quoted(`${base}/v1`)},
  apiKey: ${quoted(key)},
})
const completion = await client.chat.completions.create({
  model: ${quoted(model)},
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(completion.choices[0].message.content)`,
    },
  ],
}
