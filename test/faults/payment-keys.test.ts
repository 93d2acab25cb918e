// Tests that a key of a payment provider that no signature can be made or checked with is refused, not the first order.

import { expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from '../contract/databases.ts'
import { merchantKeys, providerKeys } from '../payments/providers.ts'
import { runCommand } from '../support/command-line.ts'

const curve = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})
const privateKey = 'expected an RSA private key: PEM, or its Base64 part alone'
const publicKey = 'expected an RSA public key or its certificate: PEM, or its Base64 part alone'

interface Pair {
  readonly privateKey: string
  readonly publicKey: string
}

async function problems(keys: Pair) {
  const directory = makeDirectory()
  try {
    const alipay = { appId: '1', privateKey: { file: 'own.pem' }, alipayPublicKey: keys.publicKey }
    writeFileSync(join(directory.path, 'own.pem'), keys.privateKey)
    writeFileSync(join(directory.path, 'c.yaml'), JSON.stringify({ payments: { alipay } }))
    const { out } = await runCommand(['config', 'check', 'c.yaml', '--json'], directory.path)
    return (JSON.parse(out) as { readonly problems: unknown }).problems
  } finally {
    directory.remove()
  }
}

test.each([
  ['no key', { privateKey: 'sk_live', publicKey: 'MIIB' }],
  ['keys of another kind', curve],
  ['private and public exchanged', { privateKey: merchantKeys.publicKey, publicKey: 'MIIB' }],
])('%s', async (_, keys) => {
  expect(await problems(keys)).toEqual([
    { path: 'payments.alipay.privateKey', message: privateKey },
    { path: 'payments.alipay.alipayPublicKey', message: publicKey },
  ])
})

test('keys that can be used', async () => {
  const { publicKey } = providerKeys
  expect(await problems({ ...merchantKeys, publicKey })).toEqual([])
})
