// LangChain for Python.

import { type Client, quoted } from './client.ts'

export const langchain: Client = {
  id: 'langchain',
  name: 'LangChain',
  kind: 'code',
  steps: ({ base, key, model }) => [
    { where: null, text: 'pip install langchain-openai' },
    {
      where: 'hello.py',
      text: `from langchain_openai import ChatOpenAI

llm = ChatOpenAI(
    base_url=${quoted(`${base}/v1`)},
    api_key=${quoted(key)},
    model=${quoted(model)},
    stream_usage=True,
)
print(llm.invoke("Hello").content)`,
    },
  ],
}
