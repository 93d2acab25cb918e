// Assembles the dialect of Cohere's Chat API, version 2.

import { format } from '../dialect.ts'
import { openaiVendor } from '../openai/base.ts'
import { CohereFrames, CohereReader } from './reader.ts'
import { encodeRequest } from './request.ts'

export const cohereV2 = format('cohere-v2', {
  vendor: {
    ...openaiVendor,
    frames: () => new CohereFrames(),
    hub: {
      encodeRequest,
      reader: (quirks) => new CohereReader(quirks),
      readWhole: (body, quirks) => new CohereReader(quirks).whole(body),
    },
  },
})
