// Assembles the dialect of AWS Bedrock's Converse and ConverseStream.

import { AwsEventFrames } from '../aws-event-stream.ts'
import { format } from '../dialect.ts'
import { readBedrockFault } from './fault.ts'
import { ConverseReader } from './reader.ts'
import { encodeRequest } from './request.ts'

/**
 * Whether a stream is complete: Bedrock's own begins with `messageStart` and ends with usage, after the finish; one
 * that begins otherwise is from an intermediate server and ends with the finish.
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
      reader: (quirks, context) => new ConverseReader(quirks, context),
      readWhole: (body, quirks, context) => new ConverseReader(quirks, context).whole(body),
    },
  },
})
