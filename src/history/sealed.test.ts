// Tests sealed bodies: the form that browsers read, which keys open it and which do not.

import { expect, test } from 'bun:test'
import {
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
} from 'node:crypto'
import { isPublicKey, makeKeys, openSealed, openSealer } from './sealed.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (sealed: Uint8Array) => new TextDecoder().decode(sealed)

test('what is sealed opens with the secret key, for its request, and with nothing else', async () => {
  const keys = await makeKeys()
  const sealer = await openSealer(keys.publicKey, 'req_1')
  const sealed = await sealer.encrypt(bytes('a secret'))
  const again = await sealer.encrypt(bytes('a secret'))
  expect(Buffer.from(sealed).includes('secret')).toBe(false)
  expect(Buffer.from(again).equals(Buffer.from(sealed))).toBe(false)
  const open = await openSealed(keys, sealer.wrappedKey, 'req_1')
  expect(text(await open(sealed))).toBe('a secret')
  await expect(openSealed(keys, sealer.wrappedKey, 'req_2')).rejects.toThrow()
  const other = await makeKeys()
  await expect(openSealed(other, sealer.wrappedKey, 'req_1')).rejects.toThrow()
  const claimed = { publicKey: keys.publicKey, secretKey: other.secretKey }
  await expect(openSealed(claimed, sealer.wrappedKey, 'req_1')).rejects.toThrow()
  for (const at of [0, 12, sealed.length - 1]) {
    const changed = sealed.slice()
    changed[at] = (changed[at] ?? 0) ^ 1
    await expect(open(changed)).rejects.toThrow()
  }
})

test('what an earlier version sealed still opens', async () => {
  for (const { keys, requestId, wrappedKey, sealed, opened } of vectors) {
    const open = await openSealed(keys, Buffer.from(wrappedKey, 'base64'), requestId)
    expect(text(await open(Buffer.from(sealed, 'base64')))).toBe(opened)
  }
})

test('the form is as it is described: another implementation opens it', () => {
  for (const { keys, requestId, wrappedKey, sealed, opened } of vectors) {
    const raw = (base64: string, encoding: 'base64' | 'base64url' = 'base64') =>
      Buffer.from(base64, encoding)
    const [wrapped, publicKey] = [raw(wrappedKey), raw(keys.publicKey, 'base64url')]
    const jwk = { kty: 'OKP', crv: 'X25519', x: keys.publicKey }
    const sender = { ...jwk, x: wrapped.subarray(0, 32).toString('base64url') }
    const shared = diffieHellman({
      privateKey: createPrivateKey({ key: { ...jwk, d: keys.secretKey }, format: 'jwk' }),
      publicKey: createPublicKey({ key: sender, format: 'jwk' }),
    })
    const info = Buffer.concat([
      Buffer.from('tollgate-history-v1'),
      wrapped.subarray(0, 32),
      publicKey,
    ])
    const wrapping = Buffer.from(hkdfSync('sha256', shared, '', info, 44))
    const decrypt = (key: Uint8Array, nonce: Uint8Array, bytes: Buffer) => {
      const cipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(requestId))
      cipher.setAuthTag(bytes.subarray(-16))
      return Buffer.concat([cipher.update(bytes.subarray(0, -16)), cipher.final()])
    }
    const dataKey = decrypt(wrapping.subarray(0, 32), wrapping.subarray(32), wrapped.subarray(32))
    const content = raw(sealed)
    expect(decrypt(dataKey, content.subarray(0, 12), content.subarray(12)).toString()).toBe(opened)
  }
})

test('what cannot be sealed to is no public key', async () => {
  expect(await isPublicKey((await makeKeys()).publicKey)).toBe(true)
  const zero = 'A'.repeat(43)
  for (const bad of ['', 'abc', zero, `${zero}=`, '!'.repeat(43), 'A'.repeat(44)])
    expect(await isPublicKey(bad)).toBe(false)
})

/** Made once; docs/history.md describes their form. */
const vectors = [
  {
    keys: {
      publicKey: 'gglxGR-RhZ3ydMyY4GPNidkCjXqzFE7urfn8zIfvykk',
      secretKey: 'X0jQiQa3bUogxlgJALZkNPWZhOe473-R_CRagVq606o',
    },
    requestId: 'req_018c0ffee',
    wrappedKey:
      'VCqb165eP/Q3qMlmgXMKHXAxLWnBI9+Dj5Lbyh59yCgk5e4zvlnPDsKj1byjqTfWe1rFG3u3jWyPDtjK1gRR66GRHrpuPqQW9+JLGHqvEY8=',
    sealed:
      '44YGMlTOde0klyP7gzcIcGVj8t8OIyWW9Jp8LUInFvmq9fFddsddXSdVKgmMUt/PQ3mlNVqKxhv7KBvKwa8nFG4VvlPPWGQyFIBrCmc=',
    opened: '{"request":{"model":"sandbox/chat"},"reply":null}',
  },
  {
    keys: {
      publicKey: 'qQ9zo3MAuc7KzEqc8tMm8yby4iL5AjlN0gGH-fdNiho',
      secretKey: 'Pz8zq5YUqaAmWO79tNkOwgNRZTV945-CvN3DuXZRFZs',
    },
    requestId: 'req_2',
    wrappedKey:
      'OEUOh3TZNl8MKX+xgQDI5p+sUZy87necP4swuRVvSzN6ya2NuVy5x2kV+2wWt/rSYol97qWvW8wpK+/8iA5a+hqinVDLqR4gUODB3Qw2R3o=',
    sealed: 'PpUClSFuRG+isEiFm8TjFpnqb077HCWGHW3Q1g==',
    opened: '',
  },
]
