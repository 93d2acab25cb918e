// The tests of realtime: sessions by the official client, which requires TLS and so uses a TLS proxy.

import { Buffer } from 'node:buffer'
import { type AddressInfo, connect } from 'node:net'
import { createServer } from 'node:tls'
import OpenAI from 'openai'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import type { RealtimeServerEvent } from 'openai/resources/realtime/realtime'
import { makeCertificates } from '../../support/certificates.ts'
import { usage } from '../../support/realtime.ts'
import type { Row } from './rows.ts'
import { alike, type Feature } from './tried.ts'

export interface TlsProxy {
  /** The proxy's address in the form of clients' base addresses. */
  readonly url: string
  close(): Promise<void>
}

/** Passes connections that arrive over TLS on to a gateway. */
export async function startTlsProxy(gatewayUrl: string): Promise<TlsProxy> {
  const certificates = makeCertificates()
  const { hostname, port } = new URL(gatewayUrl)
  const server = createServer({ ...certificates.valid }, (outside) => {
    const inside = connect(Number(port), hostname)
    outside.pipe(inside).pipe(outside)
    // Either side may close first.
    outside.on('error', () => inside.destroy())
    inside.on('error', () => outside.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close() {
      certificates.remove()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

const answerMs = 20_000

/** Sends one event, and collects all until one of a type arrives. */
function received(
  session: OpenAIRealtimeWS,
  event: Parameters<OpenAIRealtimeWS['send']>[0],
  last: RealtimeServerEvent['type'],
): Promise<readonly RealtimeServerEvent[]> {
  const events: RealtimeServerEvent[] = []
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no ${last}`)), answerMs)
    session.on('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    session.on('event', (each) => {
      events.push(each)
      if (each.type === 'session.created') session.send(event)
      if (each.type !== last) return
      clearTimeout(timer)
      resolve(events)
    })
  })
}

type See = (events: readonly RealtimeServerEvent[], row: Row) => void

/** Seven tokens of 50 ms, 24000 samples a second. */
const played = { soundBytes: 7 * 2_400, usage }

/** What the sandbox answers to nothing: 15 characters a second. */
const sentence = "This is Tollgate's sandbox, no model was asked. You said:"
const spoken = { text_tokens: 10, audio_tokens: Math.ceil((sentence.length / 15) * 20) }
const nothing = { text_tokens: 0, audio_tokens: 0, image_tokens: 0 }
const sandbox = {
  soundBytes: Math.round((sentence.length / 15) * 24_000) * 2,
  usage: {
    total_tokens: 10 + spoken.audio_tokens,
    input_tokens: 0,
    output_tokens: 10 + spoken.audio_tokens,
    input_token_details: { ...nothing, cached_tokens: 0, cached_tokens_details: nothing },
    output_token_details: spoken,
  },
}

const made = ({ vendor }: Row) => (vendor === 'sandbox' ? sandbox : played)

export function realtimeFeatures(tlsProxy: () => string): readonly Feature[] {
  const feature = (
    name: string,
    event: Parameters<OpenAIRealtimeWS['send']>[0],
    last: RealtimeServerEvent['type'],
    see: See,
  ): Feature => ({
    name,
    dialect: 'openai-realtime',
    async ask({ apiKey }, row) {
      const { model } = row
      const client = new OpenAI({ baseURL: tlsProxy(), apiKey })
      // The test made the certificate authority itself.
      const session = new OpenAIRealtimeWS(
        { model, options: { rejectUnauthorized: false } },
        client,
      )
      try {
        see(await received(session, event, last), row)
      } finally {
        session.close()
      }
      return undefined
    },
  })
  const instructions = 'Speak slowly.'
  const changed = { type: 'session.update', session: { type: 'realtime', instructions } } as const
  return [
    feature('session', changed, 'session.updated', (events) => {
      alike(events[0]?.type, 'session.created', 'first event')
      const [updated] = events.filter((each) => each.type === 'session.updated')
      const { session } = updated ?? {}
      alike(session && 'instructions' in session && session.instructions, instructions, 'session')
    }),
    feature('speech', { type: 'response.create' }, 'response.done', (events, row) => {
      const sound = events.flatMap((each) =>
        each.type === 'response.output_audio.delta' ? [Buffer.from(each.delta, 'base64')] : [],
      )
      alike(Buffer.concat(sound).length, made(row).soundBytes, 'sound')
    }),
    feature('usage', { type: 'response.create' }, 'response.done', (events, row) => {
      const [done] = events.filter((each) => each.type === 'response.done')
      alike(done?.response.usage, made(row).usage, 'usage')
    }),
  ]
}
