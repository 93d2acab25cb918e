// Ollama, through its OpenAI-compatible paths: local, without a key, embeddings only as floats.

import { amendments, maxTokensOnly } from './amendments.ts'
import { allDialects, openaiCompatible } from './compatible.ts'
import { thinking } from './efforts.ts'
import type { Vendor } from './vendor.ts'

/** Models tagged "thinking" in Ollama's library; others answer an effort with 400. */
const thinkers =
  /gpt-oss|qwen-?3(?!.*(instruct|coder|vl|embed))|qwq|deepseek-(r1|v3\.[1-9]|v[4-9])|magistral|glm-|kimi-k(2-thinking|2\.[5-9]|[3-9])|minimax-m|nemotron|cogito|gemma-?4|phi4-(mini-)?reasoning|smallthinker|-thinking|deepthought/

export const ollama = openaiCompatible({
  id: 'ollama',
  baseUrl: 'http://127.0.0.1:11434/v1',
  keyless: true,
  speaks: allDialects,
  quirks: {
    amend: amendments(maxTokensOnly),
    parameters: thinking(
      { name: thinkers, efforts: ['none', 'low', 'medium', 'high'] },
      { name: /./, efforts: [] },
    ),
  },
}) satisfies Vendor
