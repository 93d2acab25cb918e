// Creates a self-signed X.509 certificate in DER (RFC 5280), because node:crypto can read but not create them.
import { createPublicKey, sign } from 'node:crypto'

interface CertificateInput {
  /** PEM. */
  readonly privateKey: string
  /** PEM. */
  readonly publicKey: string
  /** Hexadecimal; the first digit must be below 8. */
  readonly serial: string
  readonly commonName: string
  /** Unix ms. */
  readonly effectiveAt: number
  readonly expiresAt: number
}

const tag = {
  integer: 0x02,
  bitString: 0x03,
  null: 0x05,
  objectId: 0x06,
  utf8: 0x0c,
  generalizedTime: 0x18,
  utcTime: 0x17,
  sequence: 0x30,
  set: 0x31,
  version: 0xa0,
} as const
/** The object ids 1.2.840.113549.1.1.11 and 2.5.4.3. */
const sha256WithRsa = Buffer.from('2a864886f70d01010b', 'hex')
const commonNameId = Buffer.from('550403', 'hex')

/** Returns PEM, signed with SHA-256 and RSA. */
export function selfSignedCertificate(input: CertificateInput): string {
  const algorithm = der(tag.sequence, der(tag.objectId, sha256WithRsa), der(tag.null))
  const name = der(
    tag.sequence,
    der(
      tag.set,
      der(
        tag.sequence,
        der(tag.objectId, commonNameId),
        der(tag.utf8, Buffer.from(input.commonName)),
      ),
    ),
  )
  const toSign = der(
    tag.sequence,
    der(tag.version, der(tag.integer, Buffer.from([2]))),
    der(tag.integer, Buffer.from(input.serial, 'hex')),
    algorithm,
    name,
    der(tag.sequence, time(input.effectiveAt), time(input.expiresAt)),
    name,
    createPublicKey(input.publicKey).export({ type: 'spki', format: 'der' }),
  )
  const signature = sign('sha256', toSign, input.privateKey)
  const whole = der(tag.sequence, toSign, algorithm, bitString(signature))
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}

function bitString(bytes: Buffer): Buffer {
  return der(tag.bitString, Buffer.from([0]), bytes)
}

/** Years before 2050 are written with two digits. */
function time(ms: number): Buffer {
  const text = `${new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)}Z`
  const short = text < '2050'
  return der(short ? tag.utcTime : tag.generalizedTime, Buffer.from(short ? text.slice(2) : text))
}

function der(type: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([type, ...lengthOf(content.length)]), content])
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length]
  if (length < 0x100) return [0x81, length]
  return [0x82, length >> 8, length & 0xff]
}
