// Cohere's Chat API, version 2, as vendors speak it.

import { vendorSide } from '../vendor-side.ts'
import { CohereFrames } from './frames.ts'
import { CohereReader } from './reader.ts'
import { encodeRequest } from './request.ts'

export const cohereV2 = vendorSide({
  id: 'cohere-v2',
  path: '/v2/chat',
  frames: () => new CohereFrames(),
  hub: {
    encodeRequest,
    reader: (quirks) => new CohereReader(quirks),
    readWhole: (body, quirks) => new CohereReader(quirks).whole(body),
  },
})
