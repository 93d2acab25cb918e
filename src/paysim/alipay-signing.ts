// Alipay's signatures on both sides: verifies a merchant's parameters, and signs replies and notifications (RSA2).
// https://opendocs.alipay.com/common/02mse7 and related pages.
import { sign, verify } from 'node:crypto'

type Parameters = ReadonlyMap<string, string>

/** The text to sign: parameters sorted by name, unencoded, without empty ones and those in `without`. */
function signedText(parameters: Parameters, without: readonly string[]): Buffer {
  const pairs = [...parameters]
    .filter(([name, value]) => value !== '' && !without.includes(name))
    .sort(([one], [other]) => (one < other ? -1 : 1))
  return Buffer.from(pairs.map(([name, value]) => `${name}=${value}`).join('&'))
}

/** In a request the signature covers `sign_type`. */
export function isSignedBy(parameters: Parameters, publicKey: string): boolean {
  const signature = Buffer.from(parameters.get('sign') ?? '', 'base64')
  return verify('sha256', signedText(parameters, ['sign']), publicKey, signature)
}

/** The parameters with their `sign`, for notifications and the payer's return: it does not cover `sign_type`. */
export function withSignature(
  parameters: Parameters,
  privateKey: string,
  signType: 'RSA2' | 'RSA' | 'missing' = 'RSA2',
): Map<string, string> {
  const hash = signType === 'RSA' ? 'sha1' : 'sha256'
  const signature = sign(hash, signedText(parameters, ['sign', 'sign_type']), privateKey)
  const signed = new Map([...parameters, ['sign', signature.toString('base64')]])
  if (signType !== 'missing') signed.set('sign_type', signType)
  return signed
}

/** A signed reply: the signature covers the bytes of the inner object exactly as they are sent. */
export function signedReply(name: string, content: object, privateKey: string): string {
  const raw = JSON.stringify(content)
  const signature = sign('sha256', Buffer.from(raw), privateKey).toString('base64')
  return `{${JSON.stringify(name)}:${raw},"sign":${JSON.stringify(signature)}}`
}
