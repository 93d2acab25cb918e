// Sends notifications as the providers do, repeated on a schedule if not acknowledged, with the requested faults.
import { randomUUID } from 'node:crypto'
import type { MessageFlaws, Misbehaviours } from './misbehaviour.ts'
import type { Clock, Message, ProviderSide } from './simulation.ts'
import type { KeptState, Notification, Payment, Provider } from './state.ts'

/** One attempt to deliver a notification. */
export interface Delivery {
  readonly notificationId: string
  readonly provider: Provider
  readonly orderId: string
  readonly kind: Notification['kind']
  /** Counted from 1. */
  readonly attempt: number
  /** Unix ms. */
  readonly at: number
  readonly flaws: MessageFlaws
  readonly outcome: 'acknowledged' | 'refused' | 'unreachable' | 'timeout' | 'lost' | 'held back'
  /** The receiver's answer, where there was one. */
  readonly status?: number
  readonly reply?: string
  /** The message sent; absent where none was. */
  readonly message?: Message
}

interface NotifierParts {
  readonly kept: KeptState
  readonly clock: Clock
  readonly misbehaviours: Misbehaviours
  readonly sides: Readonly<Record<Provider, ProviderSide>>
  readonly send: (request: Request) => Promise<Response>
}

const mostDeliveries = 10_000

export class Notifier {
  readonly #parts: NotifierParts
  readonly #deliveries: Delivery[] = []
  readonly #timers = new Set<() => void>()
  readonly #heldBack: Notification[] = []
  #stopped = false

  constructor(parts: NotifierParts) {
    this.#parts = parts
  }

  /** Resolves when the first attempt is over. */
  async notify(payment: Payment, kind: Notification['kind'], subjectId: string): Promise<void> {
    const notification = newNotification(payment, kind, subjectId, this.#parts.clock.now())
    if (notification.url === '') return
    this.#pending.push(notification)
    this.#parts.kept.save()
    await this.#attempt(notification)
  }

  /** Continues with notifications that an earlier run did not deliver. */
  resume(): void {
    for (const notification of this.#pending) this.#arm(notification)
  }

  deliveries(): readonly Delivery[] {
    return [...this.#deliveries]
  }

  stop(): void {
    this.#stopped = true
    for (const cancel of this.#timers) cancel()
    this.#timers.clear()
  }

  get #pending(): Notification[] {
    return this.#parts.kept.state.notifications
  }

  #after(ms: number, run: () => void): void {
    if (this.#stopped) return
    const cancel = this.#parts.clock.after(Math.max(0, ms), () => {
      this.#timers.delete(cancel)
      run()
    })
    this.#timers.add(cancel)
  }

  #arm(notification: Notification): void {
    this.#after(notification.dueAt - this.#parts.clock.now(), () => {
      void this.#attempt(notification)
    })
  }

  #remove(notification: Notification): void {
    const index = this.#pending.indexOf(notification)
    if (index >= 0) this.#pending.splice(index, 1)
  }

  #note(delivery: Delivery): void {
    this.#deliveries.push(delivery)
    if (this.#deliveries.length > mostDeliveries) this.#deliveries.shift()
  }

  async #attempt(notification: Notification): Promise<void> {
    const flaws = notification.flaws ?? this.#parts.misbehaviours.ofMessage()
    delete notification.flaws
    if (this.#postpones(notification, flaws)) return this.#parts.kept.save()
    const acknowledged = await this.#deliver(notification, flaws)
    notification.attempts += 1
    const waitMs = this.#parts.sides[notification.provider].retriesMs[notification.attempts - 1]
    if (acknowledged || waitMs === undefined) this.#remove(notification)
    else {
      notification.dueAt = this.#parts.clock.now() + waitMs
      this.#arm(notification)
    }
    this.#parts.kept.save()
    const next = this.#heldBack.shift()
    if (next !== undefined) await this.#attempt(next)
  }

  /** Whether the notification is not sent now: it is lost, late or held back. */
  #postpones(notification: Notification, flaws: MessageFlaws): boolean {
    const { lateMs, ...punctual } = flaws
    const { reordered, ...rest } = punctual
    if (flaws.lost) {
      this.#note({ ...this.#ofAttempt(notification, flaws), outcome: 'lost' })
      this.#remove(notification)
      return true
    }
    if (lateMs !== undefined) {
      notification.flaws = punctual
      notification.dueAt = this.#parts.clock.now() + lateMs
      this.#arm(notification)
      return true
    }
    if (!reordered || this.#heldBack.length > 0) return false
    this.#note({ ...this.#ofAttempt(notification, flaws), outcome: 'held back' })
    notification.flaws = rest
    this.#heldBack.push(notification)
    return true
  }

  /** Returns whether one of its copies was acknowledged. */
  async #deliver(notification: Notification, flaws: MessageFlaws): Promise<boolean> {
    const { signTest, ...rest } = flaws
    const side = this.#parts.sides[notification.provider]
    const payment = this.#paymentOf(notification)
    if (signTest) {
      const probe = await side.message(notification, payment, flaws)
      await this.#send(notification, probe, flaws)
    }
    const message = await side.message(notification, payment, rest)
    const copies = Array.from({ length: rest.repeated ?? 1 }, () =>
      this.#send(notification, message, rest),
    )
    const acknowledged = (await Promise.all(copies)).includes(true)
    if (rest.replayedAfterMs !== undefined) {
      this.#after(rest.replayedAfterMs, () => void this.#send(notification, message, rest))
    }
    return acknowledged
  }

  async #send(notification: Notification, message: Message, flaws: MessageFlaws): Promise<boolean> {
    const side = this.#parts.sides[notification.provider]
    const attempt = { ...this.#ofAttempt(notification, flaws), message }
    const abort = new AbortController()
    const timeout = new Promise<'timeout'>((resolve) => {
      const cancel = this.#parts.clock.after(side.acknowledgedWithinMs, () => resolve('timeout'))
      abort.signal.addEventListener('abort', cancel, { once: true })
    })
    const reply = await Promise.race([this.#replyTo(message, abort.signal), timeout])
    abort.abort()
    if (reply === 'timeout' || reply === 'unreachable') {
      this.#note({ ...attempt, outcome: reply })
      return false
    }
    const acknowledged = side.acknowledges(reply.status, reply.reply)
    this.#note({ ...attempt, ...reply, outcome: acknowledged ? 'acknowledged' : 'refused' })
    return acknowledged
  }

  async #replyTo({ url, headers, body }: Message, signal: AbortSignal) {
    try {
      const request = new Request(url, { method: 'POST', headers, body, signal })
      const response = await this.#parts.send(request)
      return { status: response.status, reply: await response.text() }
    } catch {
      // Whatever the reason, a provider only sees that nobody answered.
      return 'unreachable'
    }
  }

  #ofAttempt(notification: Notification, flaws: MessageFlaws) {
    return {
      notificationId: notification.id,
      provider: notification.provider,
      orderId: this.#paymentOf(notification).orderId,
      kind: notification.kind,
      attempt: notification.attempts + 1,
      at: this.#parts.clock.now(),
      flaws,
    }
  }

  #paymentOf({ paymentId }: Notification): Payment {
    const payment = this.#parts.kept.state.payments.find(({ id }) => id === paymentId)
    if (payment === undefined) throw new Error(`no payment ${paymentId}`)
    return payment
  }
}

function newNotification(
  payment: Payment,
  kind: Notification['kind'],
  subjectId: string,
  now: number,
): Notification {
  const refund = payment.refunds.find(({ id }) => id === subjectId)
  return {
    id: randomUUID(),
    provider: payment.provider,
    paymentId: payment.id,
    kind,
    subjectId,
    url: refund?.notifyUrl || payment.notifyUrl,
    createdAt: now,
    attempts: 0,
    dueAt: now,
  }
}
