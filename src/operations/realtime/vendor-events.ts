// Handles events of a realtime session's vendor in order: each is paid for first, then passed to the client.

import { Buffer } from 'node:buffer'
import type { Fault } from '../../errors.ts'
import { scrub } from '../../telemetry/scrub.ts'
import type { SocketListener } from '../../vendors/transport.ts'
import { cancelEvent } from '../../wire/openai-realtime/dialect.ts'
import {
  readVendorEvent,
  type VendorEvent,
  withoutSecret,
  withResponseCost,
} from '../../wire/openai-realtime/vendor-event.ts'
import { closeCode } from './close-codes.ts'
import { EndedWork } from './ended-work.ts'
import { type DenyReason, type Ending, wellEnded } from './session-billing.ts'
import type { SessionOwner } from './session-owner.ts'

type Waiting =
  | { readonly event: VendorEvent; readonly payload: string | Uint8Array }
  | { readonly code: number; readonly reason: string }

export class VendorEvents implements SocketListener {
  private readonly owner: SessionOwner
  /** Events not handled yet, because money is being held. */
  private queue: Waiting[] = []
  private gated = false
  private readonly transcripts = new EndedWork()

  constructor(owner: SessionOwner) {
    this.owner = owner
  }

  /** Resumes the vendor, unless money is being held. */
  resume(): void {
    if (!this.gated) this.owner.vendor.socket.resume()
  }

  /** The session is over: drops the remaining events. */
  drop(): void {
    this.queue = []
  }

  message(payload: Buffer, isText: boolean): void {
    const event = isText ? readVendorEvent(payload) : ({ kind: 'other' } as const)
    this.queue.push({ event, payload: isText ? payload.toString('utf8') : Buffer.from(payload) })
    this.pump()
  }

  closed(code: number, reason: string): void {
    this.queue.push({ code, reason })
    this.pump()
  }

  /** Handles the vendor's events in order, and stops wherever money has to be held first. */
  private pump(): void {
    try {
      this.flow()
    } catch (error) {
      this.owner.mistaken(error)
    }
  }

  private flow(): void {
    while (!this.gated && !this.owner.isOver) {
      const next = this.queue.shift()
      if (next === undefined) {
        if (!this.owner.isBehind) this.owner.vendor.socket.resume()
        return
      }
      if ('code' in next) {
        this.owner.vendorClosed(next.code, next.reason)
        return
      }
      const work = this.take(next.event, next.payload)
      if (work !== null) this.gate(work)
    }
  }

  private gate(work: Promise<void>): void {
    this.gated = true
    this.owner.vendor.socket.pause()
    void work
      .catch((error: unknown) => this.owner.mistaken(error))
      .finally(() => {
        this.gated = false
        this.pump()
      })
  }

  /** Passes an event on; returns a promise where that has to wait. */
  private take(event: VendorEvent, payload: string | Uint8Array): Promise<void> | null {
    const { sessionBilling, transcribers, inputAudio } = this.owner.rooms
    switch (event.kind) {
      case 'withheld':
        return null
      case 'session':
        sessionBilling.expected.facts = event.facts
        transcribers.inForce(event.facts.transcriber)
        this.owner.deliver(withoutSecret(String(payload)))
        return null
      case 'error':
        this.owner.deliver(scrub(String(payload), this.owner.vendor.channel.secrets))
        return null
      case 'output': {
        this.owner.activeMs = performance.now()
        const paid = sessionBilling.output(event.responseId, event.medium, event.bytes)
        if (paid === null) break
        return paid.then((denyReason) => {
          this.owner.deliver(payload)
          this.hinder(denyReason, event.responseId)
        })
      }
      case 'begun':
        return sessionBilling.begin(event.responseId).then((denyReason) => {
          this.owner.deliver(payload)
          this.hinder(denyReason, event.responseId)
        })
      case 'speech':
        inputAudio.detected(event.item, event.begins, event.atMs)
        break
      case 'committed':
        transcribers.committed(event.item)
        inputAudio.committed(event.item)
        break
      case 'ended':
        return this.responseEnded(event, payload)
      case 'transcribed':
        return this.transcribed(event, payload)
      case 'other':
        break
    }
    this.owner.deliver(payload)
    return null
  }

  private async responseEnded(
    event: Extract<VendorEvent, { kind: 'ended' }>,
    payload: string | Uint8Array,
  ): Promise<void> {
    const { sessionBilling } = this.owner.rooms
    this.owner.activeMs = performance.now()
    const { lingering } = this.owner
    const { responseId, usage, cached, fault } = event
    const failed = fault === null ? wellEnded : failedWith(fault)
    const ending = lingering === null ? failed : { ...lingering, drained: usage !== null }
    const cost = await sessionBilling.end(responseId, usage && { usage, cached }, ending)
    const shown = this.owner.request.showCost && cost !== null && usage !== null
    const { secrets } = this.owner.vendor.channel
    if (fault !== null) this.owner.deliver(scrub(String(payload), secrets))
    else this.owner.deliver(shown ? withResponseCost(event.body, cost) : payload)
    if (this.owner.isOver) return
    if (lingering !== null) {
      if (sessionBilling.responses.length === 0) this.owner.finishLingering()
    } else this.hinder(await sessionBilling.prepare(), null)
  }

  private async transcribed(
    { item, part, used, text }: Extract<VendorEvent, { kind: 'transcribed' }>,
    payload: string | Uint8Array,
  ): Promise<void> {
    this.owner.activeMs = performance.now()
    const { sessionBilling, transcribers, inputAudio } = this.owner.rooms
    const denyReason = this.transcripts.has(part)
      ? null
      : await sessionBilling.transcribed(transcribers.of(item), {
          reported: used,
          seconds: inputAudio.secondsOf(item, text),
          text,
        })
    this.transcripts.add(part)
    this.owner.deliver(payload)
    this.hinder(denyReason, null)
  }

  /** Cancels the response, or ends the session, where money or a limit forbids it. */
  private hinder(denyReason: DenyReason | null, responseId: string | null): void {
    if (denyReason === null || this.owner.isOver || this.owner.lingering !== null) return
    const { error, isFinal } = denyReason
    if (!isFinal) {
      this.owner.vendor.socket.send(Buffer.from(cancelEvent(responseId), 'utf8'), true)
      this.owner.tell(error, null)
      return
    }
    const { code, detail } = error
    const refused = code === 'invalid_api_key' || code === 'insufficient_quota'
    const isOver = refused && detail.retry !== true
    this.owner.endWith(error, isOver ? closeCode.refused : closeCode.later)
  }
}

function failedWith(fault: Fault): Ending {
  return { status: 200, errorCode: 'server_error', fault, drained: false }
}
