// A certificate authority for a test, made by openssl, with valid and invalid certificates.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Pair {
  readonly key: string
  readonly cert: string
}

export interface Certificates {
  /** For NODE_EXTRA_CA_CERTS. */
  readonly authorityFile: string
  /** Signed by the authority for `localhost` and 127.0.0.1. */
  readonly valid: Pair
  readonly expired: Pair
  readonly wrongHost: Pair
  /** Valid except for its issuer. */
  readonly selfSigned: Pair
  remove(): void
}

const right = 'subjectAltName=DNS:localhost,IP:127.0.0.1'

/** Throws with openssl's message if it fails. */
export function makeCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-certificates-'))
  const path = (name: string) => join(folder, name)
  const openssl = (...args: string[]) => {
    const done = Bun.spawnSync(['openssl', ...args], { cwd: folder })
    if (done.exitCode !== 0) throw new Error(`openssl ${args[0]}: ${done.stderr.toString()}`)
  }
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const selfSigned = (name: string, subject: string, ...more: string[]) =>
    openssl(
      ...['req', '-x509', ...key, '-keyout', `${name}.key`, '-out', `${name}.pem`],
      ...['-subj', `/CN=${subject}`, '-days', '2', ...more],
    )
  selfSigned('authority', 'Test authority', '-addext', 'basicConstraints=critical,CA:TRUE')
  const signed = (name: string, names: string, ...validity: string[]): Pair => {
    openssl(
      ...['req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', '/CN=test'],
    )
    writeFileSync(path(`${name}.ext`), names)
    openssl(
      ...['x509', '-req', '-in', `${name}.csr`, '-CA', 'authority.pem', '-CAkey', 'authority.key'],
      ...['-CAcreateserial', '-out', `${name}.pem`, '-extfile', `${name}.ext`, ...validity],
    )
    return pair(name)
  }
  const pair = (name: string): Pair => ({
    key: readFileSync(path(`${name}.key`), 'utf8'),
    cert: readFileSync(path(`${name}.pem`), 'utf8'),
  })
  selfSigned('alone', 'localhost', '-addext', right)
  return {
    authorityFile: path('authority.pem'),
    valid: signed('valid', right, '-days', '2'),
    expired: signed('expired', right, '-days', '-1'),
    wrongHost: signed('elsewhere', 'subjectAltName=DNS:other.example', '-days', '2'),
    selfSigned: pair('alone'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
