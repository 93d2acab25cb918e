// One realtime session: events both ways as they come, each response held for before and charged after.

import { Buffer } from 'node:buffer'
import type { RealtimeSettings } from '../../config/types.ts'
import { causeOf, type Fault, GatewayError } from '../../errors.ts'
import type { Timed } from '../../relay/deadlines.ts'
import type { RelayRooms } from '../../relay/request.ts'
import { scrub } from '../../telemetry/scrub.ts'
import type { SocketListener } from '../../vendors/transport.ts'
import type { JsonObject } from '../../wire/ir.ts'
import {
  modelsNamed,
  readClientEvent,
  withModelNames,
} from '../../wire/openai-realtime/client-event.ts'
import { cancelEvent, errorEvent } from '../../wire/openai-realtime/dialect.ts'
import {
  readVendorEvent,
  type VendorEvent,
  withoutSecret,
  withResponseCost,
} from '../../wire/openai-realtime/vendor-event.ts'
import { closeCode, toldOr } from './close-codes.ts'
import type { Connected } from './connect.ts'
import {
  type DenyReason,
  type Ending,
  pinned,
  type SessionBilling,
  wellEnded,
} from './session-billing.ts'
import type { Transcriber, Transcribers } from './transcribers.ts'

/** The client's socket, as far as a session knows it. */
export interface ClientSocket {
  /** `waiting`: it has not taken all there is; `lost`: it took so little that this is lost. */
  send(message: string | Uint8Array): 'taken' | 'waiting' | 'lost'
  close(code: number, reason: string): void
  terminate(): void
}

export interface SessionRooms {
  readonly relay: RelayRooms
  readonly settings: RealtimeSettings
  readonly sessionBilling: SessionBilling
  readonly transcribers: Transcribers
  /** The process is about to stop. */
  draining(): boolean
  /** Names an event of the gateway's own. */
  newEventId(): string
  /** Called once, when nothing more will come of the session. */
  over(): void
}

export interface SessionRequest {
  readonly requestId: string
  /** As the client named it. */
  readonly model: string
  /** The reply's usage carries its cost. */
  readonly showCost: boolean
}

/** A response that was cancelled is heard to its end for this long. */
const cancelMs = 5_000
const longestReasonChars = 120

type Waiting =
  | { readonly event: VendorEvent; readonly payload: string | Uint8Array }
  | { readonly code: number; readonly reason: string }

export class RealtimeSession implements Timed, SocketListener {
  slot = -1
  private readonly rooms: SessionRooms
  private readonly request: SessionRequest
  private readonly vendor: Connected
  private readonly startedMs = performance.now()
  private client: ClientSocket | null = null
  /** What the vendor said and was not looked at yet: money is being asked for. */
  private queue: Waiting[] = []
  private gated = false
  /** Since when the client has not taken what there is. */
  private behindMs: number | null = null
  private activeMs = performance.now()
  private pingedMs = performance.now()
  private transcriber: Transcriber | null = null
  /** What the client said since it asked for a transcriber whose price is being looked up: it must not overtake that. */
  private behind: (readonly [bytes: Uint8Array, isText: boolean])[] | null = null
  private behindBytes = 0
  /** The client is gone, and responses are heard to their ends until then, by `performance.now()`. */
  private lingersUntilMs: number | null = null
  private drains = false
  private ending: Ending = wellEnded
  private isOver = false

  constructor(rooms: SessionRooms, request: SessionRequest, vendor: Connected) {
    this.rooms = rooms
    this.request = request
    this.vendor = vendor
  }

  /** The client has its socket: events flow. */
  start(client: ClientSocket): void {
    this.client = client
    this.rooms.relay.deadlines.add(this)
    this.vendor.socket.start(this)
  }

  /** The client never got its socket. */
  abandon(): void {
    this.leave({ status: 499, errorCode: 'client_closed_request', fault: null, drained: false })
    this.vendor.socket.close(closeCode.normal, '')
  }

  fromClient(bytes: Uint8Array, isText: boolean): void {
    if (this.isOver || this.lingersUntilMs !== null) return
    this.activeMs = performance.now()
    if (this.behind !== null) {
      this.behindBytes += bytes.length
      if (this.takesMore(this.behindBytes)) this.behind.push([bytes, isText])
      return
    }
    try {
      const { bytes: own, settings, added, eventId } = readClientEvent(bytes)
      this.rooms.sessionBilling.expected.add(added)
      if (settings === null) this.toVendor(own, isText)
      else this.settingsFrom(settings, eventId, isText)
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      this.tell(error, eventIdIn(bytes))
    }
  }

  clientDrained(): void {
    this.behindMs = null
    if (!this.gated) this.vendor.socket.resume()
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
    this.vendor.socket.close(toldOr(code, closeCode.normal), reason)
    this.leave(runs ? left : wellEnded)
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

  tick(nowMs: number): void {
    const { settings, relay, draining, sessionBilling } = this.rooms
    if (this.lingersUntilMs !== null) {
      if (nowMs > this.lingersUntilMs) this.finishLingering()
      return
    }
    const { writeStallMs, heartbeatMs, timeouts } = relay
    if (this.behindMs !== null && nowMs - this.behindMs > writeStallMs) {
      const { client } = this
      this.clientClosed(1006, '')
      client?.terminate()
    } else if (draining() && sessionBilling.responses.length === 0) this.shutDown()
    else if (nowMs - this.startedMs > settings.maxSessionMs)
      this.expire('The session has reached its longest duration.', 'session_expired')
    else if (nowMs - this.activeMs > settings.idleMs)
      this.expire('Nothing was said in the session for too long.', 'session_idle')
    else if (nowMs - this.vendor.socket.receivedMs > timeouts.idleMs)
      this.closed(1006, 'the vendor is silent')
    else if (nowMs - Math.max(this.vendor.socket.receivedMs, this.pingedMs) > heartbeatMs) {
      this.pingedMs = nowMs
      this.vendor.socket.ping()
    }
  }

  /** The process stops, or may not charge any more. */
  shutDown(): void {
    if (this.isOver) return
    if (this.lingersUntilMs !== null) {
      this.finishLingering()
      return
    }
    const error = new GatewayError('service_unavailable', 'The gateway is restarting.')
    if (this.rooms.sessionBilling.responses.length > 0) this.tell(error, null)
    this.dismiss(closeCode.restart, error.message)
    this.vendor.socket.close(closeCode.leaving, '')
    const fault: Fault = { kind: 'cut', message: error.message }
    const cut = { status: 200, errorCode: error.code, fault, drained: false }
    this.leave(this.rooms.sessionBilling.responses.length > 0 ? cut : wellEnded)
  }

  private settingsFrom(settings: JsonObject, eventId: string | null, isText: boolean): void {
    const names = new Map<string, string>()
    const { model } = this.vendor.candidate
    let transcriber: Transcriber | null = null
    for (const { param, role, name } of modelsNamed(settings)) {
      if (role === 'transcription') {
        transcriber = this.rooms.transcribers.find(name, param)
        names.set(param, transcriber.vendorModel)
      } else if (name === this.request.model || name === model) names.set(param, model)
      else throw pinned(param)
    }
    const bytes = withModelNames(settings, names)
    if (transcriber === null || transcriber === this.transcriber) {
      this.toVendor(bytes, isText)
      return
    }
    const chosen = transcriber
    this.behind = []
    const asked = this.rooms.sessionBilling.checkPriced(chosen.model, chosen.dialect).then(
      () => {
        this.transcriber = chosen
        this.toVendor(bytes, isText)
      },
      (error: unknown) => {
        if (!(error instanceof GatewayError)) throw error
        this.tell(error, eventId)
      },
    )
    void asked.then(() => this.catchUp()).catch((error: unknown) => this.mistaken(error))
  }

  private catchUp(): void {
    const behind = this.behind ?? []
    this.behind = null
    this.behindBytes = 0
    for (const [bytes, isText] of behind) this.fromClient(bytes, isText)
  }

  private toVendor(bytes: Uint8Array, isText: boolean): void {
    if (this.isOver) return
    const { socket } = this.vendor
    if (this.takesMore(socket.waitingBytes + bytes.length)) socket.send(bytes, isText)
  }

  private takesMore(waitingBytes: number): boolean {
    if (waitingBytes <= 2 * this.rooms.settings.maxMessageBytes) return true
    const message = 'The vendor does not take what is sent to it fast enough.'
    this.endWith(new GatewayError('service_unavailable', message), closeCode.later)
    return false
  }

  /** Looks at what the vendor said, in order, and waits wherever money is asked for. */
  private pump(): void {
    try {
      this.flow()
    } catch (error) {
      this.mistaken(error)
    }
  }

  private flow(): void {
    while (!this.gated && !this.isOver) {
      const next = this.queue.shift()
      if (next === undefined) {
        if (this.behindMs === null) this.vendor.socket.resume()
        return
      }
      if ('code' in next) {
        this.vendorClosed(next.code, next.reason)
        return
      }
      const work = this.take(next.event, next.payload)
      if (work !== null) this.gate(work)
    }
  }

  private gate(work: Promise<void>): void {
    this.gated = true
    this.vendor.socket.pause()
    void work
      .catch((error: unknown) => this.mistaken(error))
      .finally(() => {
        this.gated = false
        this.pump()
      })
  }

  /** Passes an event on; a promise where that has to wait. */
  private take(event: VendorEvent, payload: string | Uint8Array): Promise<void> | null {
    const { sessionBilling } = this.rooms
    switch (event.kind) {
      case 'withheld':
        return null
      case 'session':
        sessionBilling.expected.facts = event.facts
        this.deliver(withoutSecret(String(payload)))
        return null
      case 'error':
        this.deliver(this.scrubbed(payload))
        return null
      case 'output': {
        this.activeMs = performance.now()
        const paid = sessionBilling.output(event.responseId, event.medium, event.bytes)
        if (paid === null) break
        return paid.then((denyReason) => {
          this.deliver(payload)
          this.hinder(denyReason, event.responseId)
        })
      }
      case 'begun':
        return sessionBilling.begin(event.responseId).then((denyReason) => {
          this.deliver(payload)
          this.hinder(denyReason, event.responseId)
        })
      case 'ended':
        return this.responseEnded(event, payload)
      case 'transcribed':
        return this.transcribed(event.used, payload)
      case 'other':
        break
    }
    this.deliver(payload)
    return null
  }

  private async responseEnded(
    event: Extract<VendorEvent, { kind: 'ended' }>,
    payload: string | Uint8Array,
  ): Promise<void> {
    const { sessionBilling } = this.rooms
    this.activeMs = performance.now()
    const lingers = this.lingersUntilMs !== null
    const { responseId, usage, cached, fault } = event
    const failed = fault === null ? wellEnded : failedWith(fault)
    const ending = lingers ? { ...this.ending, drained: usage !== null } : failed
    const cost = await sessionBilling.end(responseId, usage && { usage, cached }, ending)
    const shown = this.request.showCost && cost !== null && usage !== null
    const { secrets } = this.vendor.channel
    if (fault !== null) this.deliver(scrub(String(payload), secrets))
    else this.deliver(shown ? withResponseCost(event.body, cost) : payload)
    if (this.isOver) return
    if (lingers) {
      if (sessionBilling.responses.length === 0) this.finishLingering()
    } else this.hinder(await sessionBilling.prepare(), null)
  }

  private async transcribed(
    used: Extract<VendorEvent, { kind: 'transcribed' }>['used'],
    payload: string | Uint8Array,
  ): Promise<void> {
    this.activeMs = performance.now()
    const denyReason =
      used === null ? null : await this.rooms.sessionBilling.transcribed(this.transcriber, used)
    this.deliver(payload)
    this.hinder(denyReason, null)
  }

  /** Money or a limit stands in the way. */
  private hinder(denyReason: DenyReason | null, responseId: string | null): void {
    if (denyReason === null || this.isOver || this.lingersUntilMs !== null) return
    const { error, isFinal } = denyReason
    if (!isFinal) {
      this.vendor.socket.send(Buffer.from(cancelEvent(responseId), 'utf8'), true)
      this.tell(error, null)
      return
    }
    const { code, detail } = error
    const refused = code === 'invalid_api_key' || code === 'insufficient_quota'
    const isOver = refused && detail.retry !== true
    this.endWith(error, isOver ? closeCode.refused : closeCode.later)
  }

  private deliver(payload: string | Uint8Array): void {
    if (this.client === null) return
    const sent = this.client.send(payload)
    if (sent === 'taken') return
    this.vendor.socket.pause()
    this.behindMs ??= performance.now()
    if (sent === 'waiting') return
    const message = 'The client does not take what is sent to it fast enough.'
    this.endWith(new GatewayError('service_unavailable', message), closeCode.later)
  }

  private tell(error: GatewayError, eventId: string | null): void {
    this.client?.send(errorEvent(error, this.rooms.newEventId(), eventId))
  }

  /** The runtime tells of this end too, and at once: it must find that nobody is there any more. */
  private dismiss(code: number, reason: string): void {
    const { client } = this
    this.client = null
    client?.close(code, reason.slice(0, longestReasonChars))
  }

  private scrubbed(payload: string | Uint8Array): string {
    return scrub(String(payload), this.vendor.channel.secrets)
  }

  private expire(message: string, shownCode: string): void {
    this.endWith(new GatewayError('request_timeout', message, { shownCode }), closeCode.leaving)
  }

  /** The client is told and let go; responses that run are cancelled, and what they come to is heard. */
  private endWith(error: GatewayError, code: number): void {
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
    if (!this.gated) this.vendor.socket.resume()
  }

  private finishLingering(): void {
    this.vendor.socket.close(closeCode.normal, '')
    this.leave(this.ending)
  }

  private vendorClosed(code: number, reason: string): void {
    const { sessionBilling, relay } = this.rooms
    if (this.lingersUntilMs !== null) {
      this.leave(this.ending)
      return
    }
    const { channel, candidate, socket } = this.vendor
    const said = scrub(reason, channel.secrets).slice(0, longestReasonChars)
    const inOrder = code === 1000 || code === 1001 || code === 1005
    if (inOrder && sessionBilling.responses.length === 0) {
      this.dismiss(toldOr(code, closeCode.normal), said)
      this.leave(wellEnded)
      return
    }
    const fault: Fault = { kind: 'cut', message: `closed with ${code}: ${said}` }
    const { channelId, model } = candidate
    const nowMs = performance.now()
    relay.health.begin(channelId, model, nowMs)
    relay.health.report(channelId, model, { kind: 'fault', fault }, nowMs)
    relay.observer.attemptFailed(sessionBilling.request, this.vendor, fault, false)
    const message = `The session ended early: ${causeOf(fault)}.`
    this.tell(new GatewayError('service_unavailable', message), null)
    this.dismiss(toldOr(code, closeCode.mistake), said)
    socket.abort()
    this.leave({ status: 200, errorCode: 'service_unavailable', fault, drained: false })
  }

  /** A mistake of ours ends the session, and is told to the operator alone. */
  private mistaken(error: unknown): void {
    reportError(error)
    const told = new GatewayError('server_error', 'The gateway failed to handle this session.')
    this.tell(told, null)
    this.dismiss(closeCode.mistake, told.message)
    this.vendor.socket.abort()
    this.leave({ status: 200, errorCode: told.code, fault: null, drained: false })
  }

  private leave(ending: Ending): void {
    if (this.isOver) return
    this.isOver = true
    this.client = null
    this.queue = []
    const { relay, sessionBilling, over } = this.rooms
    if (this.drains) relay.drains.running--
    relay.deadlines.delete(this)
    sessionBilling.close(ending)
    over()
  }
}

function failedWith(fault: Fault): Ending {
  return { status: 200, errorCode: 'server_error', fault, drained: false }
}

/** For the answer to an event that could not be read. */
function eventIdIn(bytes: Uint8Array): string | null {
  const found = /"event_id"\s*:\s*"([\w-]{1,128})"/.exec(Buffer.from(bytes).toString('utf8'))
  return found?.[1] ?? null
}
