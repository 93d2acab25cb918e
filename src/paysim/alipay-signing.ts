// Alipay's signatures from both ends: a merchant's parameters verified, replies and notifications signed (RSA2).
// https://opendocs.alipay.com/common/02mse7 and the pages beside it.
import { sign, verify } from 'node:crypto'

type Parameters = ReadonlyMap<string, string>

/** Sorted by name, values unencoded; what is empty is left out, and so are `without`. */
function signedText(parameters: Parameters, without: readonly string[]): Buffer {
  const pairs = [...parameters]
    .filter(([name, value]) => value !== '' && !without.includes(name))
    .sort(([one], [other]) => (one < other ? -1 : 1))
  return Buffer.from(pairs.map(([name, value]) => `${name}=${value}`).join('&'))
}

/** A request's signature covers its `sign_type`. */
export function isSignedBy(parameters: Parameters, publicKey: string): boolean {
  const signature = Buffer.from(parameters.get('sign') ?? '', 'base64')
  return verify('sha256', signedText(parameters, ['sign']), publicKey, signature)
}

/** The parameters with their `sign`, as notifications and the browser's way back have it: `sign_type` is not covered. */
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

/** A reply as it goes out: the signature covers the bytes of the inner object as they stand in it. */
export function signedReply(name: string, content: object, privateKey: string): string {
  const raw = JSON.stringify(content)
  const signature = sign('sha256', Buffer.from(raw), privateKey).toString('base64')
  return `{${JSON.stringify(name)}:${raw},"sign":${JSON.stringify(signature)}}`
}
