// Requests by plain fetch, and the form that every refusal must have.

import { expect } from 'bun:test'
import { authorized } from './clients.ts'

export interface Refusal {
  readonly message: string
  readonly type: string
  readonly param: string | null
  readonly code: string
}

/** POSTs JSON: a string is sent as it is. */
export function postJson(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = authorized(),
): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return fetch(url, { method: 'POST', headers, body: text })
}

/** Checks status, code and form of a refusal, and returns its error. */
export async function expectRefusal(
  reply: Response,
  status: number,
  code: string,
): Promise<Refusal> {
  const text = await reply.text()
  expect(`${reply.status} ${text}`).toStartWith(`${status} `)
  return readRefusal(
    text,
    reply.headers.get('content-type'),
    reply.headers.get('x-request-id'),
    code,
  )
}

/** The same for a reply read from a bare socket. */
export function readRefusal(
  text: string,
  contentType: string | null | undefined,
  requestId: string | null | undefined,
  code: string,
): Refusal {
  expect(contentType).toStartWith('application/json')
  expect(requestId).toMatch(/^req_[\w-]+$/)
  const body = JSON.parse(text) as { error: Refusal }
  expect(Object.keys(body)).toEqual(['error'])
  expect(Object.keys(body.error).sort()).toEqual(['code', 'message', 'param', 'type'])
  expect(body.error.message).toBeString()
  expect(body.error.message).not.toBe('')
  expect(body.error.code).toBe(code)
  expect(body.error.type).toBeString()
  expect(body.error.param === null || typeof body.error.param === 'string').toBeTrue()
  return body.error
}
