// Bedrock's Converse and ConverseStream, as AWS speaks them.

import { AwsEventFrames } from '../aws-event-stream.ts'
import { format } from '../dialect.ts'
import { readBedrockFault } from './fault.ts'
import { ConverseReader } from './reader.ts'
import { encodeRequest } from './request.ts'

/**
 * Bedrock's own streams begin with `messageStart` and tell their usage after the finish; what begins otherwise is a
 * server in between, whose streams end with the finish.
 */
function isLast(seen: ReadonlySet<string>): boolean {
  return seen.has('messageStop') && (seen.has('metadata') || !seen.has('messageStart'))
}

export const bedrockConverse = format('bedrock-converse', {
  vendor: {
    fault: readBedrockFault,
    frames: () => new AwsEventFrames(isLast),
    hub: {
      encodeRequest,
      needsBytes: () => true,
      reader: (quirks) => new ConverseReader(quirks),
      readWhole: (body, quirks) => new ConverseReader(quirks).whole(body),
    },
  },
})
