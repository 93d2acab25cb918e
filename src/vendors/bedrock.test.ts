// Tests Bedrock's addresses and signatures: the region, the model in the path, and a second calculation of Signature
// Version 4.

import { describe, expect, test } from 'bun:test'
import { createHash, createHmac } from 'node:crypto'
import { bedrock } from './bedrock.ts'
import type { ChannelSettings } from './vendor.ts'

const arn =
  'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-6-v1'
const secret = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
const nowMs = Date.UTC(2026, 10, 21, 17, 30, 5, 999)

function settings(more: Partial<ChannelSettings> = {}): ChannelSettings {
  return { baseUrl: bedrock.baseUrl ?? '', key: 'ABSKexample', options: {}, ...more }
}

function addressOf(model: string, more: Partial<ChannelSettings> = {}, stream = false): string {
  return bedrock.address({ dialect: 'bedrock-converse', model, stream }, settings(more))
}

describe('addresses', () => {
  test('W51: ids and ARNs are percent-encoded, slashes and colons included', () => {
    expect(addressOf('anthropic.claude-sonnet-4-5-20250929-v1:0')).toBe(
      'https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse',
    )
    expect(new URL(addressOf(arn, {}, true)).pathname).toBe(
      `/model/${encodeURIComponent(arn)}/converse-stream`,
    )
  })

  test('the region names the host, unless the operator names one', () => {
    const host = (more: Partial<ChannelSettings>) => new URL(addressOf('m', more)).host
    expect(host({ options: { region: 'eu-central-1' } })).toBe(
      'bedrock-runtime.eu-central-1.amazonaws.com',
    )
    expect(host({ options: { region: 'cn-north-1' } })).toBe(
      'bedrock-runtime.cn-north-1.amazonaws.com.cn',
    )
    expect(host({ baseUrl: 'http://127.0.0.1:9', options: { region: 'eu-west-1' } })).toBe(
      '127.0.0.1:9',
    )
  })
})

function hash(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex')
}

function mac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

/** Signature Version 4 as AWS documents it, step by step. */
function expected(url: URL, body: Uint8Array, region: string, token: string | null): string {
  const path = url.pathname
    .split('/')
    .map((piece) => encodeURIComponent(piece))
    .join('/')
  const headers = [
    ['content-type', 'application/json'],
    ['host', url.host],
    ['x-amz-date', '20261121T173005Z'],
    ...(token === null ? [] : [['x-amz-security-token', token]]),
  ]
  const names = headers.map(([name]) => name).join(';')
  const lines = headers.map(([name, value]) => `${name}:${value}\n`).join('')
  const canonical = ['POST', path, '', lines, names, hash(body)].join('\n')
  const scope = `20261121/${region}/bedrock/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', '20261121T173005Z', scope, hash(canonical)].join('\n')
  const key = ['20261121', region, 'bedrock', 'aws4_request'].reduce<string | Buffer>(
    (made, part) => mac(made, part),
    `AWS4${secret}`,
  )
  const signature = mac(key, toSign).toString('hex')
  return `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/${scope}, SignedHeaders=${names}, Signature=${signature}`
}

describe('signatures', () => {
  const body = Buffer.from('{"messages":[{"text":"é你😀"}]}', 'utf8')

  test.each([
    ['a key of two parts', { key: `AKIDEXAMPLE:${secret}` }, 'us-east-1', null],
    ['a session', { key: `AKIDEXAMPLE:${secret}:tok:en==` }, 'us-east-1', 'tok:en=='],
    [
      'options',
      {
        key: secret,
        options: { accessKeyId: 'AKIDEXAMPLE', sessionToken: 't', region: 'eu-west-3' },
      },
      'eu-west-3',
      't',
    ],
    [
      "the host's region",
      {
        key: `AKIDEXAMPLE:${secret}`,
        baseUrl: 'https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com',
      },
      'us-gov-west-1',
      null,
    ],
  ])('by %s', (_what, more, region, token) => {
    const url = addressOf(arn, more)
    const signed = bedrock.signature.sign?.({ method: 'POST', url, body }, settings(more), nowMs)
    const headers = Object.fromEntries(signed ?? [])
    expect(headers).toEqual({
      'x-amz-date': '20261121T173005Z',
      ...(token !== null && { 'x-amz-security-token': token }),
      authorization: expected(new URL(url), body, region, token),
    })
    expect(bedrock.signature.headers(settings(more))).toEqual([])
  })

  test('a Bedrock API key signs by itself', () => {
    const request = { method: 'POST', url: addressOf('m'), body }
    expect(bedrock.signature.sign?.(request, settings(), nowMs)).toEqual([])
    expect(bedrock.signature.headers(settings())).toEqual([['authorization', 'Bearer ABSKexample']])
    expect(bedrock.signature.sign?.(request, settings({ key: null }), nowMs)).toEqual([])
    expect(bedrock.signature.headers(settings({ key: null }))).toEqual([])
  })
})
