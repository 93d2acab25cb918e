// Finds the models that may transcribe a session's input audio: those its caller may use on the same channel.

import type { Model } from '../../catalog/model.ts'
import { type GatewayError, invalidRequest } from '../../errors.ts'
import type { Candidate } from '../../router/route.ts'
import type { ClientDialect } from '../../wire/dialect.ts'
import type { JsonValue } from '../../wire/ir.ts'

export interface Transcriber {
  readonly model: Model
  /** The session's channel, with the vendor's own name of the model. */
  readonly candidate: Candidate
  /** The dialect of transcriptions: the transcript is recorded as one. */
  readonly dialect: ClientDialect
}

/** Finds a model on the session's channel by the caller's name for it; null: the caller may not use it there. */
type FindTranscriber = (name: string) => Transcriber | null

/** Items whose transcript may still come. */
const mostItems = 100

export class Transcribers {
  private readonly lookUp: FindTranscriber
  private readonly found = new Map<string, Transcriber>()
  /** The one that the client named last. */
  private named: Transcriber | null = null
  /** The one that the vendor uses, as it reported. */
  private current: Transcriber | null = null
  /** Those that were used when an item was made. */
  private readonly ofItems = new Map<string, Transcriber | null>()

  constructor(lookUp: FindTranscriber) {
    this.lookUp = lookUp
  }

  /** The same object for the same name, also for the vendor's name of one found. Throws GatewayError naming `param`. */
  find(name: JsonValue, param: string): Transcriber {
    if (typeof name !== 'string') throw invalidRequest(`${param} must be a string`, param)
    const known = this.found.get(name)
    if (known !== undefined) return known
    const transcriber = this.lookUp(name)
    if (transcriber === null) throw unavailable(name, param)
    this.found.set(name, transcriber)
    this.found.set(transcriber.candidate.model, transcriber)
    return transcriber
  }

  isNamed(transcriber: Transcriber): boolean {
    return transcriber === this.named
  }

  /** The client asks for it; the vendor may refuse, or still transcribe audio by the one before. */
  name(transcriber: Transcriber): void {
    this.named = transcriber
  }

  /** The vendor reported its settings, with its name of the transcribing model where it tells. */
  inForce(vendorModel: string | null): void {
    const known = [...this.found.values()].find(({ candidate }) => candidate.model === vendorModel)
    this.current = known ?? this.named
  }

  committed(item: string): void {
    this.ofItems.set(item, this.current)
    const [oldest] = this.ofItems.keys()
    if (this.ofItems.size > mostItems && oldest !== undefined) this.ofItems.delete(oldest)
  }

  /** The one that transcribed an item; null where the client named none. A vendor may report nothing. */
  of(item: string): Transcriber | null {
    return this.ofItems.get(item) ?? this.current ?? this.named
  }
}

function unavailable(name: string, param: string): GatewayError {
  const message = `The model '${name}' does not exist on this session's channel or is not available to this key.`
  return invalidRequest(message, param)
}
