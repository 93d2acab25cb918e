// Tests TLS to vendors: a vendor is only called if its certificate is valid (U3).

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createServer } from 'node:net'
import { type Certificates, makeCertificates, type Pair } from '../support/certificates.ts'
import { startGateway } from '../support/gateway.ts'
import { wav } from '../support/samples.ts'
import { expectError, expectFailover, onStage } from '../support/scene.ts'
import { json, startUpstream, type Upstream } from '../support/upstream.ts'

let certificates: Certificates
beforeAll(() => {
  certificates = makeCertificates()
})
afterAll(() => certificates.remove())

const environment = () => ({ NODE_EXTRA_CA_CERTS: certificates.authorityFile })
const addressOf = (vendor: Upstream, host = 'localhost') => `https://${host}:${vendor.port}/v1`

for (const host of ['localhost', '127.0.0.1']) {
  test(`U3 a certificate that holds for ${host}: the vendor is used, whole and streamed, on one connection`, async () => {
    await using vendor = await startUpstream(certificates.valid)
    const firstUrl = addressOf(vendor, host)
    await onStage({ alone: true, firstUrl, env: environment() }, async (scene) => {
      expect((await scene.chat()).content).toBe('Hello')
      expect((await scene.stream()).content).toBe('Hello there')
      expect(vendor.requests.map(({ connection }) => connection)).toEqual([1, 1])
    })
  })
}

const unsound: readonly [name: string, pair: () => Pair][] = [
  ['expired', () => certificates.expired],
  ['for another host', () => certificates.wrongHost],
  ['self-signed', () => certificates.selfSigned],
]

for (const [name, pair] of unsound) {
  test(`U3 a certificate ${name}: nothing is sent, another channel serves, else 503`, async () => {
    await using vendor = await startUpstream(pair())
    const options = { firstUrl: addressOf(vendor), env: environment() }
    await onStage(options, async (scene) => {
      await expectFailover(scene, await scene.chat(), 'Hello')
    })
    await onStage({ ...options, alone: true }, async (scene) => {
      const seen = await scene.chat()
      expectError(seen, 503, 'service_unavailable')
      expect((await scene.gateway.row(seen.requestId)).errorCause).toBe(
        'the vendor could not be reached',
      )
      await scene.gateway.logged('TLS failed')
    })
    expect(vendor.requests).toHaveLength(0)
  })
}

test('U3 a certificate nobody vouches for, without the authority in the environment: 503', async () => {
  await using vendor = await startUpstream(certificates.valid)
  await onStage({ alone: true, firstUrl: addressOf(vendor) }, async (scene) => {
    expectError(await scene.chat(), 503, 'service_unavailable')
  })
  expect(vendor.requests).toHaveLength(0)
})

test('U3 NODE_TLS_REJECT_UNAUTHORIZED=0 does not switch the verification off', async () => {
  await using vendor = await startUpstream(certificates.selfSigned)
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' }
  await onStage({ alone: true, firstUrl: addressOf(vendor), env }, async (scene) => {
    expectError(await scene.chat(), 503, 'service_unavailable')
  })
  expect(vendor.requests).toHaveLength(0)
})

test('U3 a handshake that stalls: another channel serves when the connect limit is over', async () => {
  const left = Promise.withResolvers<void>()
  const mute = createServer((socket) => {
    socket.on('data', () => undefined)
    socket.on('error', () => undefined)
    socket.on('close', left.resolve)
  })
  await new Promise<void>((done) => mute.listen(0, '127.0.0.1', done))
  const address = mute.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const options = { firstUrl: `https://localhost:${port}/v1`, timeouts: { connectMs: 400 } }
  await onStage(options, async (scene) => {
    const seen = await scene.chat()
    await expectFailover(scene, seen, 'Hello')
    expect(seen.elapsedMs).toBeGreaterThanOrEqual(350)
    await left.promise
  })
  mute.close()
})

test('U3 a vendor that speaks no TLS: another channel serves', async () => {
  await using vendor = await startUpstream()
  await onStage({ firstUrl: addressOf(vendor), timeouts: { connectMs: 1_000 } }, async (scene) => {
    await expectFailover(scene, await scene.chat(), 'Hello')
  })
  expect(vendor.requests).toHaveLength(0)
})

test('U3 files that lie on disk reach a vendor over TLS as they are, many at once', async () => {
  await using vendor = await startUpstream(certificates.valid)
  vendor.on('*', [json(200, { text: 'heard' })])
  await using gateway = await startGateway({
    env: environment(),
    config: {
      // The vendor is in this process, which is busy with the files meanwhile.
      timeouts: { connectMs: 60_000 },
      channels: [
        { id: 'main', vendor: 'openai', baseUrl: addressOf(vendor), key: 'k', models: ['hear'] },
      ],
      models: { hear: { kind: 'transcription', prices: { second: '100' } } },
    },
  })
  const files = [1, 2, 3, 4].map((seed) => {
    const sound = wav(500)
    for (let at = 44; at < sound.length; at += 4) sound.writeUInt32LE((at * seed) >>> 0, at)
    return sound
  })
  await Promise.all(
    files.map(async (sound) => {
      const form = new FormData()
      form.append('model', 'hear')
      form.append('file', new File([Uint8Array.from(sound)], 'a.wav'))
      const reply = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}` },
        body: form,
      })
      expect(await reply.json()).toEqual({ text: 'heard' })
    }),
  )
  const sent = vendor.requests.map(({ body }) => files.findIndex((sound) => body.includes(sound)))
  expect(sent.sort()).toEqual([0, 1, 2, 3])
})
