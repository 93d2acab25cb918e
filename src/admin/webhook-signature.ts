// The headers of what is posted to a webhook: by its signature the receiver knows who sent it, and when.

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
