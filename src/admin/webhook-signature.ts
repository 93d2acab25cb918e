// The signed headers of a post to a webhook, by which the receiver verifies sender and time.

import { createHmac } from 'node:crypto'

export function signedFields(
  body: string,
  key: string,
  nowMs: number,
): Readonly<Record<string, string>> {
  const seconds = Math.floor(nowMs / 1_000)
  const signature = createHmac('sha256', key).update(`${seconds}.${body}`)
  return {
    'content-type': 'application/json',
    'x-tollgate-signature': `t=${seconds},v1=${signature.digest('hex')}`,
  }
}
