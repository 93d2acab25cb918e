// Zhipu AI (GLM), on its mainland platform and as Z.ai: reports usage unasked, and has finish reasons of its own.

import type { Fault } from '../errors.ts'
import { amendments, developerAsSystem, dropped, maxTokensOnly } from './amendments.ts'
import { chatAndEmbeddings, openaiCompatible } from './compatible.ts'
import type { Vendor } from './vendor.ts'

/** Zhipu's business codes, from its error code page: 1000-1004 keys, 1113 balance, 1211 model, 1302-1305 rates. */
const kinds: ReadonlyMap<string, Fault['kind']> = new Map(
  Object.entries({
    '1000': 'credentials',
    '1001': 'credentials',
    '1002': 'credentials',
    '1003': 'credentials',
    '1004': 'credentials',
    '1113': 'quota',
    '1211': 'unknown_model',
    '1302': 'rate_limited',
    '1303': 'rate_limited',
    '1304': 'quota',
    '1305': 'rate_limited',
  }),
)

function refine(fault: Fault, _status: number, body: string): Fault {
  const code = /"code":\s*"?(\d{4})"?/.exec(body)?.[1] ?? ''
  const kind = kinds.get(code)
  return kind === undefined ? fault : { ...fault, kind, code }
}

export const zhipu = openaiCompatible({
  id: 'zhipu',
  baseUrl: 'https://open.bigmodel.cn/api/paas/v4',
  environment: 'ZHIPU_API_KEY',
  environmentElsewhere: { ZAI_API_KEY: 'https://api.z.ai/api/paas/v4' },
  speaks: chatAndEmbeddings,
  quirks: {
    usageOnStream: 'always',
    // Embeddings take no `encoding_format`: the floats returned are converted to the client's form.
    amend: amendments(
      maxTokensOnly,
      dropped('stream_options', 'encoding_format'),
      developerAsSystem,
    ),
    refine,
  },
}) satisfies Vendor
