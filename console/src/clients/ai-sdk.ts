// Vercel's AI SDK, by its provider for OpenAI-compatible servers.

import { type Client, quoted } from './client.ts'

export const aiSdk: Client = {
  id: 'ai-sdk',
  name: 'AI SDK',
  kind: 'code',
  steps: ({ base, key, model }) => [
    { where: null, text: 'npm install ai @ai-sdk/openai-compatible' },
    {
      where: 'hello.mjs',
      text: `import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { streamText } from 'ai'

const tollgate = createOpenAICompatible({
  name: 'tollgate',
  baseURL: ${quoted(`${base}/v1`)},
  apiKey: ${quoted(key)},
  includeUsage: true,
})
const { textStream } = streamText({ model: tollgate(${quoted(model)}), prompt: 'Hello' })
for await (const text of textStream) process.stdout.write(text)`,
    },
  ],
}
