// LlamaIndex: its plain OpenAI class refuses models it does not know by name.

import { type Client, quoted } from './client.ts'

export const llamaindex: Client = {
  id: 'llamaindex',
  name: 'LlamaIndex',
  kind: 'code',
  steps: ({ base, key, model }) => [
    { where: null, text: 'pip install llama-index-llms-openai-like' },
    {
      where: 'hello.py',
      text: `from llama_index.llms.openai_like import OpenAILike

llm = OpenAILike(
    api_base=${quoted(`${base}/v1`)},
    api_key=${quoted(key)},
    model=${quoted(model)},
    is_chat_model=True,
    is_function_calling_model=True,
)
print(llm.complete("Hello"))`,
    },
  ],
}
