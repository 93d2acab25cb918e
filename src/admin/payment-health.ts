// Whether payment providers reach this deployment: their latest notifications, waiting orders, and a test of the
// callback.

import { randomUUID } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import type { SecretBox } from '../identity/secret-box.ts'
import { callbackAddress } from '../payments/provider.ts'
import { isGlobalAddress } from '../safe-fetch/global-address.ts'
import type { PaymentProvider } from '../store/payment-tables.ts'
import { askWithHeader } from '../upstream/ask.ts'
import { createDialer } from '../upstream/dial.ts'
import { type OrderDesk, stuckAfterMs } from './orders.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'

/** For each configured provider. */
export async function readPaymentHealth(
  { store, nowMs }: AdminContext,
  { payments, mode, address }: OrderDesk,
) {
  const offered = await payments.offered()
  const stuckBefore = nowMs - stuckAfterMs
  const providers = offered.map(async ({ name }) => {
    const health = await store.callbacks.health({ provider: name, mode, stuckBefore })
    const { takenAt, refusedAt } = health
    const receivedAt = Math.max(takenAt ?? 0, refusedAt ?? 0)
    return {
      name,
      address: callbackAddress(address, name),
      receivedAt: receivedAt === 0 ? null : timeText(receivedAt),
      refusedAt: timeText(refusedAt),
      problem: health.problem,
      creditedAt: timeText(health.creditedAt),
      open: health.open,
      stuck: health.stuck,
    }
  })
  return { mode, providers: await Promise.all(providers) }
}

/** Header of a test request to the callback address, and of the reply to a test that cannot be decrypted. */
export const testHeader = 'x-tollgate-callback-test'

/** What a test found between a provider and this deployment. */
export const testOutcomes = [
  'arrived',
  'unknown_host',
  'unreachable',
  'tls',
  'slow',
  'redirect',
  'not_found',
  'other_deployment',
  'page',
  'blocked',
  'unavailable',
  'other_program',
] as const

type TestOutcome = (typeof testOutcomes)[number]

interface Tested {
  readonly provider: string
  /** Made from a key of this deployment for this purpose: only this deployment can decrypt the question. */
  readonly box: SecretBox
  /** About as long as providers wait. */
  readonly timeoutMs?: number
}

const mostBytes = 65_536

/**
 * Requests the callback address as providers do: the reply shows whether this deployment answers there. Throws
 * AdminError.
 */
export async function testCallback(
  { payments, address }: Pick<OrderDesk, 'payments' | 'address'>,
  { provider, box, timeoutMs = 5_000 }: Tested,
) {
  const name = await offeredName(payments, provider)
  const url = callbackAddress(address, name)
  const started = performance.now()
  const addresses = await resolved(new URL(url).hostname)
  const isPublic = addresses.length > 0 && addresses.every(isGlobalAddress)
  const found = await (addresses.length === 0
    ? unanswered('unknown_host', null)
    : ask(url, box, timeoutMs))
  return {
    address: url,
    ...found,
    isPublic,
    isSecure: url.startsWith('https:'),
    tookMs: Math.round(performance.now() - started),
  }
}

async function offeredName(
  payments: OrderDesk['payments'],
  provider: string,
): Promise<PaymentProvider> {
  const offered = await payments.offered()
  const found = offered.find(({ name }) => name === provider)
  if (found !== undefined) return found.name
  throw new AdminError(
    'not_found',
    'provider',
    `the payment provider ${JSON.stringify(provider)} is not configured`,
  )
}

async function resolved(hostname: string): Promise<readonly string[]> {
  try {
    const host = hostname.replace(/^\[|\]$/g, '')
    return (await lookup(host, { all: true })).map(({ address }) => address)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return []
    throw error
  }
}

interface Found {
  readonly outcome: TestOutcome
  readonly status: number | null
  /** The redirect's target, or the error that ended the connection. */
  readonly detail: string | null
}

function unanswered(outcome: TestOutcome, detail: string | null): Found {
  return { outcome, status: null, detail }
}

async function ask(url: string, box: SecretBox, timeoutMs: number): Promise<Found> {
  const nonce = randomUUID()
  const dialer = createDialer()
  const headers = { [testHeader]: box.encrypt(nonce), 'content-type': 'application/json' }
  try {
    const reply = await askWithHeader(
      { dialer, maxBytes: mostBytes, timeoutMs },
      { method: 'POST', url, headers, body: '{}' },
    )
    const { status } = reply
    const location = reply.header('location')
    const outcome = reply.text === nonce && status === 200 ? 'arrived' : outcomeOf(reply)
    return { outcome, status, detail: outcome === 'redirect' ? location : null }
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'NotAnswered') throw error
    const { message } = error
    if (message === 'it took too long') return unanswered('slow', null)
    if (message.includes('larger than')) return unanswered('other_program', message)
    return unanswered(message.includes('TLS failed') ? 'tls' : 'unreachable', message)
  } finally {
    dialer.close()
  }
}

interface Replied {
  readonly status: number
  header(name: string): string | null
}

function outcomeOf({ status, header }: Replied): TestOutcome {
  if (header(testHeader) !== null) return 'other_deployment'
  if (status >= 300 && status < 400) return 'redirect'
  if (status === 404 || status === 405) return 'not_found'
  if (status === 401 || status === 403 || status === 429) return 'blocked'
  if (status >= 500) return 'unavailable'
  return header('content-type')?.startsWith('text/html') === true ? 'page' : 'other_program'
}

/** The reply to a test request: its decrypted nonce, which no other deployment can decrypt. null: it is no test. */
export function answerTest(box: SecretBox, question: string | null): Response | null {
  if (question === null) return null
  try {
    return new Response(box.decrypt(question), { headers: { 'content-type': 'text/plain' } })
  } catch {
    return new Response('', { status: 409, headers: { [testHeader]: 'unknown' } })
  }
}
