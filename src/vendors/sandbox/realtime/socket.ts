// The sandbox's end of a realtime session: a socket without a network, with the pace and the faults asked for.

import { Buffer } from 'node:buffer'
import { GatewayError } from '../../../errors.ts'
import type { JsonObject } from '../../../wire/ir.ts'
import type {
  HandshakeHandler,
  LocalSocketCall,
  SocketListener,
  VendorSocket,
} from '../../transport.ts'
import { cut, refusalOf, unanswered } from '../faults.ts'
import { type Reply, refusal } from '../reply.ts'
import { parseSandboxModel, type SandboxSettings } from '../settings.ts'
import { SandboxConversation } from './conversation.ts'
import type { SandboxResponse, ServerEvent } from './response.ts'

/** The most events sent at once before other work gets its turn. */
const burst = 64

/** Never throws for an invalid call: an unknown model is refused. */
export function connectSandbox(call: LocalSocketCall, handler: HandshakeHandler): VendorSocket {
  const { settings, refused } = settingsOf(call.model)
  const socket = new SandboxSocket(call, settings)
  queueMicrotask(() => socket.greet(handler, refused))
  return socket
}

interface NamedSettings {
  readonly settings: SandboxSettings
  readonly refused: Reply | null
}

function settingsOf(model: string): NamedSettings {
  try {
    const settings = parseSandboxModel(model)
    if (settings?.model !== 'sandbox/realtime') return { settings: usual, refused: unknown(model) }
    return { settings, refused: settings.fault === null ? null : refusalOf(settings.fault) }
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return { settings: usual, refused: mistaken(error) }
  }
}

const usual: SandboxSettings = {
  model: 'sandbox/realtime',
  firstMs: 0,
  gapMs: 0,
  tokens: null,
  fault: null,
  after: 1,
}

function mistaken({ message, detail }: GatewayError): Reply {
  const error = { type: 'invalid_request_error', param: detail.param ?? null, code: null }
  return refusal(400, { ...error, message })
}

function unknown(model: string): Reply {
  const message = `The sandbox has no model '${model}' here; openai-realtime has sandbox/realtime`
  const error = { type: 'invalid_request_error', param: 'model', code: 'model_not_found' }
  return refusal(404, { ...error, message })
}

class SandboxSocket implements VendorSocket {
  receivedMs = performance.now()
  /** Of the client's events whose answers it has not taken yet: the gateway stops a client that takes none. */
  waitingBytes = 0
  private readonly call: LocalSocketCall
  private readonly conversation: SandboxConversation
  private readonly settings: SandboxSettings
  private listener: SocketListener | null = null
  private outbox: (ServerEvent | string)[] = []
  private running: SandboxResponse | null = null
  private startedMs = 0
  private sent = 0
  private paused = false
  private over = false
  /** Stalled by a fault: sends nothing more, and answers no ping. */
  private silent = false
  private spoiled = false
  private awake = false
  private timer: ReturnType<typeof setTimeout> | null = null

  constructor(call: LocalSocketCall, settings: SandboxSettings) {
    this.call = call
    this.settings = settings
    this.conversation = new SandboxConversation(call.model, settings)
  }

  greet(handler: HandshakeHandler, refused: Reply | null): void {
    if (this.over) return
    const { fault } = this.settings
    if (refused !== null) {
      this.abort()
      handler.refused(refused.status, (name) => refused.headers[name] ?? null, refused.step(0))
    } else if (fault === 'unreachable' || fault === 'reset') {
      this.abort()
      handler.fault(unanswered[fault])
    } else if (fault === 'hang') {
      this.timer = setTimeout(() => {
        this.abort()
        handler.fault({ kind: 'timeout', message: 'the sandbox did not answer', unsent: false })
      }, this.call.answerMs)
    } else handler.open(this)
  }

  start(listener: SocketListener): void {
    this.listener = listener
    if (this.settings.fault === 'empty') {
      queueMicrotask(() => this.end(1000, ''))
      return
    }
    this.outbox.push(...this.conversation.opening())
    this.wake()
  }

  send(payload: Uint8Array, isText: boolean): void {
    if (this.over || this.silent) return
    this.waitingBytes += payload.length
    this.outbox.push(...this.conversation.take(isText ? parsed(payload) : {}))
    const response = this.conversation.running?.response ?? null
    if (response !== this.running) {
      this.running = response
      this.startedMs = performance.now()
      this.spoiled = false
    }
    this.wake()
  }

  ping(): void {
    if (!this.silent) this.receivedMs = performance.now()
  }

  pause(): void {
    this.paused = true
  }

  resume(): void {
    if (!this.paused) return
    this.paused = false
    this.wake()
  }

  close(): void {
    this.abort()
  }

  abort(): void {
    this.over = true
    this.listener = null
    this.outbox = []
    this.rest()
  }

  private rest(): void {
    if (this.timer !== null) clearTimeout(this.timer)
    this.timer = null
  }

  /** Continues after the caller has returned. */
  private wake(): void {
    this.rest()
    if (this.awake) return
    this.awake = true
    queueMicrotask(this.flow)
  }

  private readonly flow = (): void => {
    this.awake = false
    for (let count = 0; count < burst; count += 1) {
      if (this.over || this.silent || this.paused || this.listener === null) return
      const next = this.outbox.shift()
      if (next !== undefined) {
        this.say(next)
        continue
      }
      this.waitingBytes = 0
      if (!this.goOn()) return
    }
    this.rest()
    this.timer = setTimeout(this.flow, 0)
  }

  private say(event: ServerEvent | string): void {
    this.sent += 1
    this.receivedMs = performance.now()
    const text = typeof event === 'string' ? event : this.named(event)
    this.listener?.message(Buffer.from(text, 'utf8'), true)
  }

  private named({ type, ...rest }: ServerEvent): string {
    return JSON.stringify({ type, event_id: `event_sandbox_${this.sent}`, ...rest })
  }

  /** Sends the next word of the running response; false where it is not due, or nothing runs. */
  private goOn(): boolean {
    const { running } = this.conversation
    if (running === null) return false
    const { firstMs, gapMs, after } = this.settings
    const waitMs = this.startedMs + firstMs + running.said * gapMs - performance.now()
    if (firstMs + gapMs > 0 && waitMs > 0) {
      this.rest()
      this.timer = setTimeout(this.flow, waitMs)
      return false
    }
    const last = Math.max(0, running.response.steps - 1)
    if (running.said >= Math.min(after, last) && this.spoil()) return true
    this.outbox.push(...this.conversation.advance())
    return true
  }

  /** Applies the fault within the response, once. */
  private spoil(): boolean {
    if (this.spoiled) return false
    this.spoiled = true
    switch (this.settings.fault) {
      case 'stall':
        this.silent = true
        return true
      case 'cut':
        this.end(1006, cut.message)
        return true
      case 'invalid':
        this.outbox.push('{"type":"response.output_text.delta","delta":')
        return true
      case 'error-event':
        this.outbox.push(...this.conversation.end('failed'))
        return true
      default:
        return false
    }
  }

  private end(code: number, reason: string): void {
    const { listener } = this
    this.abort()
    listener?.closed(code, reason)
  }
}

function parsed(payload: Uint8Array): JsonObject {
  try {
    const value: unknown = JSON.parse(Buffer.from(payload).toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as JsonObject) : {}
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}
