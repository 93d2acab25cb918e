// Handles events of a realtime session's client on their way to the vendor.

import { Buffer } from 'node:buffer'
import { GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../wire/ir.ts'
import {
  type ClientEvent,
  modelsNamed,
  readClientEvent,
  withModelNames,
} from '../../wire/openai-realtime/client-event.ts'
import { closeCode } from './close-codes.ts'
import { pinned } from './session-billing.ts'
import type { SessionOwner } from './session-owner.ts'
import type { Transcriber } from './transcribers.ts'

export class ClientEvents {
  private readonly owner: SessionOwner
  /** Events received while the price of a requested transcriber is looked up: they must not overtake that request. */
  private behind: (readonly [bytes: Uint8Array, isText: boolean])[] | null = null
  private behindBytes = 0

  constructor(owner: SessionOwner) {
    this.owner = owner
  }

  take(bytes: Uint8Array, isText: boolean): void {
    if (this.owner.isOver || this.owner.lingering !== null) return
    this.owner.activeMs = performance.now()
    if (this.behind !== null) {
      this.behindBytes += bytes.length
      if (this.takesMore(this.behindBytes)) this.behind.push([bytes, isText])
      return
    }
    try {
      const event = readClientEvent(bytes)
      this.count(event)
      if (event.settings === null) this.toVendor(event.bytes, isText)
      else this.settingsFrom(event, event.settings, isText)
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      this.owner.tell(error, eventIdIn(bytes))
    }
  }

  private count({ type, added }: ClientEvent): void {
    const { sessionBilling, inputAudio } = this.owner.rooms
    const { expected } = sessionBilling
    expected.add(added)
    if (type === 'input_audio_buffer.append' || added.clears)
      inputAudio.appended(added, expected.facts.inputBytesPerSecond)
  }

  private settingsFrom(event: ClientEvent, settings: JsonObject, isText: boolean): void {
    const names = new Map<string, string>()
    const { model } = this.owner.vendor.candidate
    const { transcribers } = this.owner.rooms
    let transcriber: Transcriber | null = null
    const named = modelsNamed(settings)
    for (const { param, role, name } of named) {
      if (role === 'transcription') {
        transcriber = transcribers.find(name, param)
        names.set(param, transcriber.candidate.model)
      } else if (name === this.owner.request.model || name === model) names.set(param, model)
      else throw pinned(param)
    }
    // Unchanged where it can be: reading and writing it anew would change long numbers in tools' schemas.
    const isSame = named.every(({ param, name }) => names.get(param) === name)
    const bytes = isSame ? event.bytes : withModelNames(settings, names)
    if (transcriber === null || transcribers.isNamed(transcriber)) {
      this.toVendor(bytes, isText)
      return
    }
    const chosen = transcriber
    this.behind = []
    const asked = this.owner.rooms.sessionBilling.checkPriced(chosen.model, chosen.dialect).then(
      () => {
        transcribers.name(chosen)
        this.toVendor(bytes, isText)
      },
      (error: unknown) => {
        if (!(error instanceof GatewayError)) throw error
        this.owner.tell(error, event.eventId)
      },
    )
    void asked.then(() => this.catchUp()).catch((error: unknown) => this.owner.mistaken(error))
  }

  private catchUp(): void {
    const behind = this.behind ?? []
    this.behind = null
    this.behindBytes = 0
    for (const [bytes, isText] of behind) this.take(bytes, isText)
  }

  private toVendor(bytes: Uint8Array, isText: boolean): void {
    if (this.owner.isOver) return
    const { socket } = this.owner.vendor
    if (this.takesMore(socket.waitingBytes + bytes.length)) socket.send(bytes, isText)
  }

  private takesMore(waitingBytes: number): boolean {
    if (waitingBytes <= 2 * this.owner.rooms.settings.maxMessageBytes) return true
    const message = 'The vendor does not take what is sent to it fast enough.'
    this.owner.endWith(new GatewayError('service_unavailable', message), closeCode.later)
    return false
  }
}

/** The id of an event that could not be parsed, for the error that answers it. */
function eventIdIn(bytes: Uint8Array): string | null {
  const found = /"event_id"\s*:\s*"([\w-]{1,128})"/.exec(Buffer.from(bytes).toString('utf8'))
  return found?.[1] ?? null
}
