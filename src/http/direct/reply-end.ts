// Follows a reply of the runtime's server to its end, after which this listener may read the connection's next request.

import type { Buffer } from 'node:buffer'
import { BodyDecoder, BodyError } from '../../upstream/body.ts'
import { HeadError, HeadReader } from '../../upstream/head.ts'

const sink = { bytes: () => undefined }

export class ReplyEnd {
  /** Whether another request may follow on the connection; known once the head is read. */
  keepAlive = false
  private readonly heads = new HeadReader()
  private body: BodyDecoder | null = null

  /** Whether the reply ends with this chunk. Throws HeadError or BodyError where the end cannot be found. */
  take(chunk: Buffer): boolean {
    let at = 0
    if (this.body === null) {
      const head = this.heads.take(chunk, 0)
      if (head === null) return false
      if (head.status < 200) throw new HeadError('another head follows this one')
      this.keepAlive = head.keepAlive
      this.body = new BodyDecoder(head.framing, sink)
      at = this.heads.next
    }
    if (!this.body.done) at += this.body.push(chunk, at)
    if (this.body.done && at < chunk.length) throw new BodyError('more follows the reply')
    return this.body.done
  }
}
