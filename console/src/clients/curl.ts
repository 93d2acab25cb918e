// curl: the smallest request there is.

import { type Client, quoted, word } from './client.ts'

export const curl: Client = {
  id: 'curl',
  name: 'curl',
  kind: 'code',
  steps: ({ base, key, model }) => {
    const body = `{"model": ${quoted(model)}, "messages": [{"role": "user", "content": "Hello"}]}`
    const text = `curl ${word(`${base}/v1/chat/completions`)} \\
  -H ${word(`Authorization: Bearer ${key}`)} \\
  -H 'Content-Type: application/json' \\
  -d ${word(body)}`
    return [{ where: null, text }]
  },
}
