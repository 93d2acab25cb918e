// One attempt to sign in: what its parts tell each other while a library stands between them.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { SignInState } from '../store/sign-in.ts'
import type { IdentityProvider, Profile } from './provider.ts'

export interface Attempt {
  /** The caller's, as the trusted proxies say. */
  readonly address: string | null
  /** Who signs in, once its provider has said so. */
  profile: (Profile & Pick<IdentityProvider, 'issuer'>) | null
  /** What its answer came back with, taken out of the store: no other answer has it. */
  state: SignInState | null
  /** Why it cannot go on: the library's own word for it says less. */
  failure: unknown
}

const attempts = new AsyncLocalStorage<Attempt>()

export function inAttempt<Result>(attempt: Attempt, work: () => Promise<Result>): Promise<Result> {
  return attempts.run(attempt, work)
}

/** Throws outside of one. */
export function currentAttempt(): Attempt {
  const attempt = attempts.getStore()
  if (attempt === undefined) throw new Error('Nobody is signing in.')
  return attempt
}

/** Notes why the attempt fails, since the library would only say that it does. */
export async function noting<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    currentAttempt().failure ??= error
    throw error
  }
}
