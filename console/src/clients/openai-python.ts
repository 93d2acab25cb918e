// The official OpenAI package for Python.

import { type Client, quoted } from './client.ts'

export const openaiPython: Client = {
  id: 'openai-python',
  name: 'OpenAI Python',
  kind: 'code',
  steps: ({ base, key, model }) => [
    { where: null, text: 'pip install openai' },
    {
      where: 'hello.py',
      text: `from openai import OpenAI

client = OpenAI(
    base_url=${quoted(`${base}/v1`)},
    api_key=${quoted(key)},
)
completion = client.chat.completions.create(
    model=${quoted(model)},
    messages=[{"role": "user", "content": "Hello"}],
)
print(completion.choices[0].message.content)`,
    },
  ],
}
