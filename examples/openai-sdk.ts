// Calls a gateway with the official openai SDK: a whole reply, a stream, a tool, and the error of a refused request.
//   npm ci && TOLLGATE_KEY=sk-tg-... node_modules/.bin/bun examples/openai-sdk.ts

import OpenAI from 'openai'

const env = process.env
const model = env['MODEL'] ?? 'sandbox/chat'
const client = new OpenAI({
  baseURL: env['TOLLGATE_URL'] ?? 'http://127.0.0.1:8787/v1',
  apiKey: env['TOLLGATE_KEY'] ?? '',
})

const whole = await client.chat.completions.create({
  model,
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log('whole:', whole.choices[0]?.message.content, whole.usage?.total_tokens, 'tokens')

const stream = await client.chat.completions.create({
  model,
  messages: [{ role: 'user', content: 'Hello' }],
  stream: true,
})
process.stdout.write('stream: ')
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '')
process.stdout.write('\n')

const runner = client.chat.completions.runTools({
  model,
  messages: [{ role: 'user', content: 'Ask get_weather about Paris' }],
  tools: [
    {
      type: 'function',
      function: {
        name: 'get_weather',
        description: 'Weather of a city.',
        parameters: {
          type: 'object',
          properties: { city: { type: 'string' } },
          required: ['city'],
        },
        parse: (text: string) => JSON.parse(text) as { city: string },
        function: ({ city }: { city: string }) => `sunny in ${city}`,
      },
    },
  ],
})
console.log('tool:', await runner.finalContent())

try {
  await client.chat.completions.create({ model, messages: [] })
} catch (error) {
  if (!(error instanceof OpenAI.APIError)) throw error
  console.log('refused:', error.status, error.code, error.param)
}
