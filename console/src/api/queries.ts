// What every page asks: who is signed in, what the account has; and the cache behind all questions.

import { MutationCache, QueryCache, QueryClient, useQuery } from '@tanstack/react-query'
import { Problem, type Reply, read, type Shape } from './client.ts'

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: lookWhoIsSignedIn }),
  mutationCache: new MutationCache({ onError: lookWhoIsSignedIn }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // A refusal stays one; only a lost connection or a store that is away is worth asking again.
      retry: (failures, error) =>
        failures < 2 && error instanceof Problem && (error.status === 0 || error.status === 503),
      retryDelay: (failures) => 500 * 2 ** failures,
      // A figure on a page in the background may be old; it is asked again when the page is looked at.
      refetchOnWindowFocus: true,
      networkMode: 'always',
    },
    mutations: { networkMode: 'always', retry: false },
  },
})

export type Person = Shape<'Person'>

export const meQuery = { ...read('/api/me'), staleTime: 60_000 }

/** A session may end while a page is open: the first refusal asks again who is signed in, and the frame says so. */
function lookWhoIsSignedIn(error: Error): void {
  if (!isSignedOut(error) || isSignedOut(queryClient.getQueryState(meQuery.queryKey)?.error)) return
  void queryClient.invalidateQueries({ queryKey: meQuery.queryKey })
}

function isSignedOut(error: Error | null | undefined): boolean {
  return error instanceof Problem && error.status === 401
}

/** undefined: not known yet; null: nobody is signed in. */
export function useMe(): Person | null | undefined {
  const { data, error } = useQuery(meQuery)
  return isSignedOut(error) ? null : data
}

/** The deployment's operators; auditors read everything and change nothing. */
export function roleOf(person: Person | null | undefined): {
  readonly operator: boolean
  readonly admin: boolean
} {
  const role = person?.role
  return { operator: role === 'admin' || role === 'auditor', admin: role === 'admin' }
}

/** What the account of the one signed in has. */
export function useBalance() {
  return useQuery({ ...read('/api/balance'), staleTime: 5_000, refetchInterval: 30_000 })
}

/** What of this deployment is turned on; what is not known yet is off. */
export function useFeatures(): Reply<'get', '/api/features'> {
  const { data } = useQuery({ ...read('/api/features'), staleTime: 300_000 })
  return data ?? { statusPage: false }
}
