// Reads a reply whose first bytes decide on which path it goes to the client.

import { Buffer } from 'node:buffer'
import type { ReplySummary } from '../billing/settlement.ts'
import { join } from '../wire/json/splice.ts'
import type { ReplyPath } from './path.ts'

/** How a stream of server-sent events begins: with a field or a comment. */
const opening = /^(data:|event:|id:|retry:|:)/
const longestOpening = 'retry:'.length
/** No reply begins with more white space. */
const maxBlankBytes = 65_536

/**
 * Whether a reply that begins like this is a stream of events; null: more bytes are needed. Some vendors, and proxies
 * before them, label a stream as JSON, as text or not at all.
 */
export function beginsStream(beginning: Uint8Array): boolean | null {
  const text = Buffer.from(beginning.subarray(0, maxBlankBytes)).toString('utf8')
  const said = text.replace(/^\uFEFF/, '').trimStart()
  if (opening.test(said)) return true
  return said.length >= longestOpening || beginning.length > maxBlankBytes ? false : null
}

export class UndecidedReply implements ReplyPath {
  readonly summary: ReplySummary = { usage: null, outputBytes: 0, finishReason: null, model: null }
  readonly complete = false
  private readonly judge: (beginning: Uint8Array) => boolean | null
  private readonly choose: (judged: boolean) => ReplyPath
  private held: Uint8Array[] = []

  /**
   * `judge` decides by the bytes so far, or says null where it needs more; a reply that ends before is judged false.
   * `choose` gives the path that reads the reply, and sends it all further bytes.
   */
  constructor(
    judge: (beginning: Uint8Array) => boolean | null,
    choose: (judged: boolean) => ReplyPath,
  ) {
    this.judge = judge
    this.choose = choose
  }

  bytes(chunk: Uint8Array): void {
    this.held.push(chunk)
    const judged = this.judge(join(this.held))
    if (judged !== null) this.become(judged)
  }

  end(): void {
    this.become(false).end()
  }

  private become(judged: boolean): ReplyPath {
    const path = this.choose(judged)
    if (this.held.length > 0) path.bytes(join(this.held))
    this.held = []
    return path
  }
}
