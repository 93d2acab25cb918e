// One realtime session: relays events in both directions, holding money before each response and charging it after.

import { Buffer } from 'node:buffer'
import { causeOf, type Fault, GatewayError } from '../../errors.ts'
import type { Timed } from '../../relay/deadlines.ts'
import { restarting } from '../../relay/final-error.ts'
import { laneOf } from '../../router/route.ts'
import { scrub } from '../../telemetry/scrub.ts'
import { cancelEvent, errorEvent } from '../../wire/openai-realtime/dialect.ts'
import { ClientEvents } from './client-events.ts'
import { closeCode, knownOr } from './close-codes.ts'
import type { Connected } from './connect.ts'
import { type Ending, keyEnded, wellEnded } from './session-billing.ts'
import type { ClientSocket, SessionOwner, SessionRequest, SessionRooms } from './session-owner.ts'
import { VendorEvents } from './vendor-events.ts'

/** How long the end of a cancelled response is waited for. */
const cancelMs = 5_000
const longestReasonChars = 120

export class RealtimeSession implements Timed, SessionOwner {
  slot = -1
  readonly rooms: SessionRooms
  readonly request: SessionRequest
  readonly vendor: Connected
  private readonly startedMs = performance.now()
  private client: ClientSocket | null = null
  /** Since when the client has not taken everything sent to it; null: it has. */
  private behindMs: number | null = null
  activeMs = performance.now()
  private pingedMs = performance.now()
  /** The client is gone, and running responses are read to their ends, until this time by `performance.now()`. */
  private lingersUntilMs: number | null = null
  private drains = false
  private ending: Ending = wellEnded
  isOver = false
  private readonly clientEvents = new ClientEvents(this)
  private readonly vendorEvents = new VendorEvents(this)

  constructor(rooms: SessionRooms, request: SessionRequest, vendor: Connected) {
    this.rooms = rooms
    this.request = request
    this.vendor = vendor
  }

  /** The client's socket is open: starts the flow of events. */
  start(client: ClientSocket): void {
    this.client = client
    this.rooms.relay.deadlines.add(this)
    this.vendor.socket.start(this.vendorEvents)
  }

  /** The client left before its socket was open. */
  abandon(): void {
    this.leave({ status: 499, errorCode: 'client_closed_request', fault: null, drained: false })
    this.vendor.socket.close(closeCode.normal, '')
  }

  fromClient(bytes: Uint8Array, isText: boolean): void {
    this.clientEvents.take(bytes, isText)
  }

  get isBehind(): boolean {
    return this.behindMs !== null
  }

  get lingering(): Ending | null {
    return this.lingersUntilMs === null ? null : this.ending
  }

  clientDrained(): void {
    this.behindMs = null
    this.vendorEvents.resume()
  }

  clientClosed(code: number, reason: string): void {
    if (this.client === null) return
    this.client = null
    if (this.isOver || this.lingersUntilMs !== null) return
    const left = { status: 499, errorCode: 'client_closed_request', fault: null, drained: false }
    const { relay, sessionBilling } = this.rooms
    const { drains } = relay
    const { policies } = sessionBilling.request.authorization.rooms
    const runs = sessionBilling.responses.length > 0
    if (runs && policies.clientLeaves === 'drain' && drains.running < drains.most) {
      this.drains = true
      drains.running++
      this.linger(left, drains.limitMs)
      return
    }
    this.vendor.socket.close(knownOr(code, closeCode.normal), reason)
    this.leave(runs ? left : wellEnded)
  }

  tick(nowMs: number): void {
    const { settings, relay, draining, sessionBilling } = this.rooms
    if (this.lingersUntilMs !== null) {
      if (nowMs > this.lingersUntilMs) this.finishLingering()
      return
    }
    if (!this.rooms.keyHolds()) {
      // A session that only transcribes begins no response, at which its key would be asked for.
      this.endWith(keyEnded(), closeCode.refused)
      return
    }
    const { writeStallMs, heartbeatMs } = relay.client
    if (this.behindMs !== null && nowMs - this.behindMs > writeStallMs) {
      const { client } = this
      this.clientClosed(1006, '')
      client?.terminate()
    } else if (draining() && sessionBilling.responses.length === 0) this.shutDown()
    else if (nowMs - this.startedMs > settings.maxSessionMs)
      this.expire('The session has reached its longest duration.', 'session_expired')
    else if (nowMs - this.activeMs > settings.idleMs)
      this.expire('The session was idle for too long.', 'session_idle')
    else if (!this.isBehind && nowMs - this.vendor.socket.receivedMs > relay.timeouts.idleMs)
      this.vendorEvents.closed(1006, 'the vendor is silent')
    else if (nowMs - Math.max(this.vendor.socket.receivedMs, this.pingedMs) > heartbeatMs) {
      this.pingedMs = nowMs
      this.vendor.socket.ping()
    }
  }

  /** The process stops, or can no longer charge. */
  shutDown(error = restarting()): void {
    if (this.isOver) return
    if (this.lingersUntilMs !== null) {
      this.finishLingering()
      return
    }
    if (this.rooms.sessionBilling.responses.length > 0) this.tell(error, null)
    this.dismiss(closeCode.restart, error.message)
    this.vendor.socket.close(closeCode.leaving, '')
    const fault: Fault = { kind: 'cut', message: error.message }
    const cut = { status: 200, errorCode: error.code, fault, drained: false }
    this.leave(this.rooms.sessionBilling.responses.length > 0 ? cut : wellEnded)
  }

  deliver(payload: string | Uint8Array): void {
    if (this.client === null) return
    const sent = this.client.send(payload)
    if (sent === 'taken') return
    this.vendor.socket.pause()
    this.behindMs ??= performance.now()
    if (sent === 'waiting') return
    const message = 'The client does not take what is sent to it fast enough.'
    this.endWith(new GatewayError('service_unavailable', message), closeCode.later)
  }

  tell(error: GatewayError, eventId: string | null): void {
    this.client?.send(errorEvent(error, this.rooms.newEventId(), eventId))
  }

  /** Cleared first: the runtime reports this close too, and at once, and must find no client any more. */
  private dismiss(code: number, reason: string): void {
    const { client } = this
    this.client = null
    client?.close(code, reason.slice(0, longestReasonChars))
  }

  private expire(message: string, shownCode: string): void {
    this.endWith(new GatewayError('request_timeout', message, { shownCode }), closeCode.leaving)
  }

  /** Sends the error and closes the client's socket; running responses are cancelled, and read for their usage. */
  endWith(error: GatewayError, code: number): void {
    if (this.isOver || this.lingersUntilMs !== null) return
    this.tell(error, null)
    this.dismiss(code, error.message)
    const { responses } = this.rooms.sessionBilling
    const ending = { status: 200, errorCode: error.code, fault: null, drained: false }
    if (responses.length === 0) {
      this.vendor.socket.close(closeCode.normal, '')
      this.leave(wellEnded)
      return
    }
    for (const id of responses) {
      this.vendor.socket.send(Buffer.from(cancelEvent(id), 'utf8'), true)
    }
    this.linger(ending, cancelMs)
  }

  private linger(ending: Ending, limitMs: number): void {
    this.ending = ending
    this.lingersUntilMs = performance.now() + limitMs
    this.behindMs = null
    this.vendorEvents.resume()
  }

  finishLingering(): void {
    this.vendor.socket.close(closeCode.normal, '')
    this.leave(this.ending)
  }

  vendorClosed(code: number, reason: string): void {
    const { sessionBilling, relay } = this.rooms
    if (this.lingersUntilMs !== null) {
      this.leave(this.ending)
      return
    }
    const { channel, candidate, socket } = this.vendor
    const said = scrub(reason, channel.secrets).slice(0, longestReasonChars)
    const inOrder = code === 1000 || code === 1001 || code === 1005
    if (inOrder && sessionBilling.responses.length === 0) {
      this.dismiss(knownOr(code, closeCode.normal), said)
      this.leave(wellEnded)
      return
    }
    const fault: Fault = { kind: 'cut', message: `closed with ${code}: ${said}` }
    const { model } = candidate
    const lane = laneOf(candidate)
    const nowMs = performance.now()
    relay.health.begin(lane, model, nowMs)
    relay.health.report(lane, model, { kind: 'fault', fault }, nowMs)
    relay.observer.attemptFailed(sessionBilling.request, this.vendor, fault, false)
    const message = `The session ended early: ${causeOf(fault)}.`
    this.tell(new GatewayError('service_unavailable', message), null)
    this.dismiss(knownOr(code, closeCode.mistake), said)
    socket.abort()
    this.leave({ status: 200, errorCode: 'service_unavailable', fault, drained: false })
  }

  /** Ends the session after a bug in the gateway, whose details only the operator sees. */
  mistaken(error: unknown): void {
    reportError(error)
    const refusal = new GatewayError('server_error', 'The gateway failed to handle this session.')
    this.tell(refusal, null)
    this.dismiss(closeCode.mistake, refusal.message)
    this.vendor.socket.abort()
    this.leave({ status: 200, errorCode: refusal.code, fault: null, drained: false })
  }

  private leave(ending: Ending): void {
    if (this.isOver) return
    this.isOver = true
    this.client = null
    this.vendorEvents.drop()
    const { relay, sessionBilling, over } = this.rooms
    if (this.drains) relay.drains.running--
    relay.deadlines.delete(this)
    sessionBilling.close(ending)
    over()
  }
}
