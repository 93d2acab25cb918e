// What a newcomer needs to sign in: the browser address, and a one-time link until an admin has signed in.

import { AdminError } from '../admin/use-case.ts'
import type { Config } from '../config/types.ts'
import { takesSecureCookies } from '../identity/session-cookie.ts'
import type { Store } from '../store/store.ts'

const linkMinutes = 60

/** The configured public URL, else where this process listens, with 0.0.0.0 and :: replaced by loopback addresses. */
export function browserAddress({ server }: Pick<Config, 'server'>, listening: string): string {
  if (server.publicUrl !== null) return new URL(server.publicUrl).origin
  return listening.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}

/** The configured public URL, else the address remembered from the last start. */
export async function knownAddress(
  { server }: Pick<Config, 'server'>,
  { deployment }: Pick<Store, 'deployment'>,
): Promise<string> {
  return server.publicUrl ?? (await deployment.address()) ?? 'http://127.0.0.1:8787'
}

/** null once an admin has signed in, and where the default account may not sign in. */
export async function firstSignInLink(
  store: Store,
  address: string,
  currency: string,
): Promise<string | null> {
  await store.deployment.rememberAddress(address)
  if (await store.people.hasAdmin()) return null
  const { createSignInLink } = await import('../admin/sign-in.ts')
  const admin = {
    store,
    actor: 'first start',
    nowMs: Date.now(),
    currency: async () => currency,
  }
  try {
    const { path } = await createSignInLink(admin, { minutes: linkMinutes })
    return `${address}${path}`
  } catch (error) {
    // The account is suspended or deleted: the command line can make a link for another.
    if (error instanceof AdminError) return null
    throw error
  }
}

/**
 * Warns where sign-in uses plain http, since its cookies can be read on the way, and where the public URL has a path,
 * below which browsers find neither the console nor sign-in.
 */
export function addressWarnings({ server, identity }: Config, address: string): readonly string[] {
  const warnings: string[] = []
  const isUsed = server.publicUrl !== null || identity.providers.length > 0
  if (isUsed && !takesSecureCookies(new URL(address)))
    warnings.push(
      `People sign in over plain http at ${address}: whoever is on the way can take their sessions. Put TLS before it and set publicUrl`,
    )
  if (server.publicUrl !== null && new URL(server.publicUrl).pathname !== '/')
    warnings.push(
      `publicUrl has a path (${server.publicUrl}), but the console and sign-in are at ${address}/ only. Give the gateway a host of its own`,
    )
  return warnings
}
