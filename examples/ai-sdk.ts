// Calls a gateway with the `ai` package: text, a stream, a tool, and embeddings.
//   npm ci && TOLLGATE_KEY=sk-tg-... node_modules/.bin/bun examples/ai-sdk.ts

import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { embedMany, generateText, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'

const env = process.env
const tollgate = createOpenAICompatible({
  name: 'tollgate',
  baseURL: env['TOLLGATE_URL'] ?? 'http://127.0.0.1:8787/v1',
  apiKey: env['TOLLGATE_KEY'] ?? '',
  includeUsage: true,
})
const model = tollgate(env['MODEL'] ?? 'sandbox/chat')

const { text, usage } = await generateText({ model, prompt: 'Hello' })
console.log('text:', text, usage.totalTokens, 'tokens')

process.stdout.write('stream: ')
for await (const piece of streamText({ model, prompt: 'Hello' }).textStream) {
  process.stdout.write(piece)
}
process.stdout.write('\n')

const answer = await generateText({
  model,
  prompt: 'Ask get_weather about Paris',
  stopWhen: stepCountIs(3),
  tools: {
    get_weather: tool({
      description: 'Weather of a city.',
      inputSchema: z.object({ city: z.string() }),
      execute: ({ city }) => `sunny in ${city}`,
    }),
  },
})
console.log('tool:', answer.text)

const { embeddings } = await embedMany({
  model: tollgate.embeddingModel(env['EMBEDDING_MODEL'] ?? 'sandbox/embedding'),
  values: ['one text', 'another'],
})
console.log('vectors:', embeddings.length, 'of', embeddings[0]?.length, 'dimensions')
