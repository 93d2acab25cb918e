// Official SDKs, configured for a gateway under test.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import OpenAI from 'openai'
import { testKey } from './gateway.ts'

/** The official client, without retries unless requested. */
export function openaiClient(
  url: string,
  options: { key?: string; maxRetries?: number } = {},
): OpenAI {
  return new OpenAI({
    baseURL: `${url}/v1`,
    apiKey: options.key ?? testKey,
    maxRetries: options.maxRetries ?? 0,
  })
}

/** The provider of the `ai` package for any OpenAI-format server. */
export function aiProvider(url: string) {
  return createOpenAICompatible({
    name: 'tollgate',
    baseURL: `${url}/v1`,
    apiKey: testKey,
    includeUsage: true,
  })
}

export function authorized(key = testKey): Record<string, string> {
  return { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
}

/** One message of a user. */
export function ask(text: string): { role: 'user'; content: string }[] {
  return [{ role: 'user', content: text }]
}

/** The wait ends after this time or earlier: for results that must be right whenever they come. */
export function anyInstant(mostMs: number): Promise<void> {
  return Bun.sleep(Math.random() * mostMs)
}

/** The pace of a slow client or vendor that a test plays. Never used to wait for something: `eventually` does that. */
export function pace(ms: number): Promise<void> {
  return Bun.sleep(ms)
}

/** The final value of a counter without an event: read again until it has not changed for a while. */
export async function steady(count: () => number, quietMs = 100): Promise<number> {
  for (;;) {
    const before = count()
    await Bun.sleep(quietMs)
    if (count() === before) return before
  }
}

/** Looks again until `found` returns something. Throws when `timeoutMs` have passed. */
export async function eventually<T>(
  found: () => T | undefined | Promise<T | undefined>,
  timeoutMs = 30_000,
): Promise<T> {
  const deadlineMs = performance.now() + timeoutMs
  for (;;) {
    const value = await found()
    if (value !== undefined) return value
    if (performance.now() > deadlineMs) throw new Error(`not within ${timeoutMs} ms`)
    await Bun.sleep(10)
  }
}
