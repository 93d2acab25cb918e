// Reads a reply that may be a stream without saying so in its content type: its first bytes decide.

import { Buffer } from 'node:buffer'
import type { ReplySummary } from '../billing/settlement.ts'
import { join } from '../wire/json/splice.ts'
import type { ReplyPath } from './path.ts'

/** How a stream of server-sent events begins: with a field or a comment. */
const opening = /^(data:|event:|id:|retry:|:)/
const longestOpening = 'retry:'.length
/** No reply begins with more white space. */
const maxBlankBytes = 65_536

/** Some vendors, and proxies before them, label a stream as JSON, as text or not at all. */
export class UnlabelledReply implements ReplyPath {
  readonly summary: ReplySummary = { usage: null, outputBytes: 0, finishReason: null, model: null }
  readonly complete = false
  private readonly choose: (streamed: boolean) => ReplyPath
  private held: Uint8Array[] = []

  /** `choose` gives the path that reads the reply, and sends it all further bytes. */
  constructor(choose: (streamed: boolean) => ReplyPath) {
    this.choose = choose
  }

  bytes(chunk: Uint8Array): void {
    this.held.push(chunk)
    const held = join(this.held)
    const beginning = Buffer.from(held.subarray(0, maxBlankBytes)).toString('utf8')
    const said = beginning.replace(/^\uFEFF/, '').trimStart()
    if (opening.test(said)) this.become(true)
    else if (said.length >= longestOpening || held.length > maxBlankBytes) this.become(false)
  }

  end(): void {
    this.become(false).end()
  }

  private become(streamed: boolean): ReplyPath {
    const path = this.choose(streamed)
    if (this.held.length > 0) path.bytes(join(this.held))
    this.held = []
    return path
  }
}
