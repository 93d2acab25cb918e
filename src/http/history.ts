// Keeps requests and replies as message history where the account wants it: copied here, written by another thread.

import type { HistorySettings } from '../config/types.ts'
import type { Exchange, ExchangedFile, SentRequest } from '../history/document.ts'
import type { HistoryPolicy } from '../history/policy.ts'
import type { Recorder } from '../history/recorder.ts'
import type { KeyPrincipal } from '../identity/principal.ts'
import type { AdmittedRequest, Hook, Passage } from '../operations/operation.ts'
import type { AskedVendor, Ended, ResponseTransform } from '../relay/request.ts'
import type { OpaqueOrigin } from '../wire/hub/opaque-state.ts'
import { join } from '../wire/json/splice.ts'

interface HistoryHookOptions {
  readonly recorder: Recorder
  /** What the policy keeps of this caller's requests; null: nothing. */
  policyOf(principal: KeyPrincipal): HistoryPolicy | null
  readonly settings: Pick<HistorySettings, 'maxBodyBytes' | 'adminReads'>
}

export function historyHook(options: HistoryHookOptions): Hook {
  return {
    before(request) {
      const policy = options.policyOf(request.principal)
      return policy === null ? null : new Recording(options, request, policy).passage
    },
  }
}

/** Approximate bytes of an exchange besides its bodies. */
const headBytes = 1_024
const mostParameters = 100

class Recording {
  readonly passage: Passage
  private readonly options: HistoryHookOptions
  private readonly request: AdmittedRequest
  private readonly policy: HistoryPolicy
  private readonly keepsBodies: boolean
  /**
   * Bytes reserved in the recorder's queue for this request; null: it had too little room, or took the exchange over.
   */
  private heldBytes: number | null = 0
  private chunks: Uint8Array[] = []
  private keptBytes = 0
  private replyBytes = 0
  private truncated = false
  /** Of the attempt that answers: bytes of another one belong to a failed attempt. */
  private origin: OpaqueOrigin | null = null
  private readonly sent: SentRequest[] = []
  private readonly asked: Uint8Array
  private readonly files: readonly ExchangedFile[]

  constructor(options: HistoryHookOptions, request: AdmittedRequest, policy: HistoryPolicy) {
    this.options = options
    this.request = request
    this.policy = policy
    this.keepsBodies = policy.mode !== 'metadata'
    const isSentKept = policy.mode === 'full' && options.settings.adminReads
    this.asked = this.keepsBodies ? this.cut(request.body, 0) : new Uint8Array(0)
    this.hold(headBytes + this.asked.length)
    this.files = this.keepsBodies ? this.readFiles() : []
    this.passage = {
      transform: this.transform,
      after: (ended) => this.end(ended),
      ...(isSentKept && { request: { ...request, asking: (asked) => this.ask(asked) } }),
    }
  }

  private readonly transform: ResponseTransform = (bytes, _, origin) => {
    this.startOver(origin)
    this.replyBytes += bytes.length
    if (this.keepsBodies) this.keep(bytes)
    return bytes
  }

  private startOver(origin: OpaqueOrigin | null): void {
    if (origin === this.origin || origin === null) return
    this.origin = origin
    this.release(this.keptBytes)
    this.chunks = []
    this.keptBytes = 0
    this.replyBytes = 0
  }

  private keep(bytes: Uint8Array): void {
    const kept = this.cut(bytes, this.keptBytes)
    if (kept.length === 0 || !this.hold(kept.length)) return
    this.keptBytes += kept.length
    this.chunks.push(kept)
  }

  /** As many of the bytes as the limit leaves after `before` bytes. */
  private cut(bytes: Uint8Array, before: number): Uint8Array {
    const most = Math.max(0, this.options.settings.maxBodyBytes - before)
    if (bytes.length <= most) return bytes
    this.truncated = true
    return bytes.subarray(0, most)
  }

  private hold(bytes: number): boolean {
    if (this.heldBytes === null) return false
    if (this.options.recorder.take(bytes)) this.heldBytes += bytes
    else {
      this.release(this.heldBytes)
      this.heldBytes = null
      this.chunks = []
    }
    return this.heldBytes !== null
  }

  private release(bytes: number): void {
    if (this.heldBytes === null) return
    this.options.recorder.give(bytes)
    this.heldBytes -= bytes
  }

  /** Read at once: the spool's files are removed when the request ends. */
  private readFiles(): ExchangedFile[] {
    const files: ExchangedFile[] = []
    let before = 0
    for (const { field, name, payload } of this.request.media?.uploads ?? []) {
      const size = Math.min(payload.size, Math.max(0, this.options.settings.maxBodyBytes - before))
      if (size < payload.size) this.truncated = true
      if (!this.hold(size)) return []
      before += size
      files.push({ field, name, type: payload.type, content: payload.read(0, size) })
    }
    return files
  }

  private ask({ channel, format, segments }: AskedVendor): void {
    const bytes = segments.filter((segment) => segment instanceof Uint8Array)
    const body = this.cut(join(bytes), 0)
    if (this.hold(body.length)) this.sent.push({ channel, format, body })
  }

  private end(ended: Ended | null): void {
    const { recorder } = this.options
    if (ended === null) this.release(this.heldBytes ?? 0)
    else if (this.heldBytes === null) recorder.drop()
    else recorder.add(this.exchange(ended), this.heldBytes)
    // Bytes that are sent later, such as an error at the end of a stream, do not belong to the kept reply.
    this.heldBytes = null
  }

  private exchange({ status }: Ended): Exchange {
    const { principal, peek, dialect, requestId, at, body } = this.request
    const { keepMs, publicKey } = this.policy
    const isEmpty = this.asked.length + this.keptBytes + this.files.length === 0
    const mode = isEmpty ? 'metadata' : this.policy.mode
    return {
      head: {
        requestId,
        account: principal.account,
        keyId: principal.keyId,
        keyName: principal.keyName,
        model: peek.model,
        operation: dialect.operation,
        format: dialect.id,
        stream: peek.stream,
        at,
        status,
        mode,
        requestBytes: this.files.reduce((sum, { content }) => sum + content.length, body.length),
        replyBytes: this.replyBytes,
        parameters: peek.keys.slice(0, mostParameters),
        truncated: this.truncated,
        expiresAt: at + keepMs,
      },
      publicKey,
      request: this.asked,
      reply: join(this.chunks),
      files: this.files,
      sent: this.sent,
    }
  }
}
