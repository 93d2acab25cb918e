// The state of one sign-in attempt, shared by code on both sides of the better-auth library.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { SignInState } from '../store/sign-in.ts'
import type { IdentityProvider, Profile } from './provider.ts'

export interface Attempt {
  /** The caller's IP address, determined by the trusted proxies. */
  readonly address: string | null
  /** The account that is signed in in the browser in which the provider answered; null: none, or not asked. */
  account: string | null
  /** The person who signs in, once the provider has identified them. */
  profile: (Profile & Pick<IdentityProvider, 'issuer'>) | null
  /** The sign-in state the provider's answer refers to; removed from the store, so that no other answer uses it. */
  state: SignInState | null
  /** Why the attempt failed; the library's own error says less. */
  failure: unknown
}

const attempts = new AsyncLocalStorage<Attempt>()

export function inAttempt<Result>(attempt: Attempt, work: () => Promise<Result>): Promise<Result> {
  return attempts.run(attempt, work)
}

/** Throws outside of an attempt. */
export function currentAttempt(): Attempt {
  const attempt = attempts.getStore()
  if (attempt === undefined) throw new Error('Nobody is signing in.')
  return attempt
}

/** Records why the attempt failed, because the library reports only that it did. */
export async function noting<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    currentAttempt().failure ??= error
    throw error
  }
}
