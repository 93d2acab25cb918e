// The queries of every page: who is signed in, what the account has; and the cache behind all queries.

import {
  hashKey,
  type Query,
  QueryCache,
  QueryClient,
  useQueries,
  useQuery,
} from '@tanstack/react-query'
import { mayPass, mePath, Problem, type Reply, read, type Shape, whenSignedOut } from './client.ts'

/** How long after a temporary fault a failed query is repeated. */
export const recoverMs = 4_000

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: askAgain, onSuccess: notePerson }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // A refusal is not repeated.
      retry: (failures, error) => failures < 2 && mayPass(error),
      retryDelay: (failures) => 500 * 2 ** failures,
      refetchOnReconnect: true,
      // A figure on a page in the background may be old; it is requested again when the page is visible.
      // Of a list only while one page is loaded: all its pages would be requested again.
      refetchOnWindowFocus: ({ state }) => pagesOf(state.data) < 2,
      networkMode: 'always',
    },
    mutations: { networkMode: 'always', retry: false },
  },
})

/** How many pages of a list are loaded; 1 for what is no list. */
export function pagesOf(data: unknown): number {
  return typeof data === 'object' && data !== null && 'pages' in data && Array.isArray(data.pages)
    ? data.pages.length
    : 1
}

export type Person = Shape<'Person'>

/** In another tab somebody else may have signed in. */
export const meQuery = {
  ...read(mePath),
  staleTime: 60_000,
  refetchOnWindowFocus: 'always' as const,
}

let person: string | undefined
let isOfAnother = false

/** Nothing that was loaded or typed for one person is shown to another, or sent in their name. */
function notePerson(data: unknown, { queryHash }: Query<unknown, unknown, unknown>): void {
  if (queryHash !== hashKey(meQuery.queryKey)) return
  const { id } = data as Person
  person ??= id
  isOfAnother = person !== id
  if (isOfAnother) location.reload()
}

/** Listens before the router does, which would ask whether to stay on a page with typed text. */
function leaveUnasked(event: Event): void {
  if (isOfAnother) event.stopImmediatePropagation()
}

addEventListener('beforeunload', leaveUnasked, { capture: true })

/** A session may end while a page is open: the first refusal asks again who is signed in, and the frame shows it. */
export function lookWhoIsSignedIn(): void {
  if (isSignedOut(queryClient.getQueryState(meQuery.queryKey)?.error)) return
  void queryClient.invalidateQueries({ queryKey: meQuery.queryKey })
}

whenSignedOut(lookWhoIsSignedIn)

export function isSignedOut(error: Error | null | undefined): boolean {
  return error instanceof Problem && error.status === 401
}

let isRecovering = false

/**
 * After a temporary fault the failed queries are repeated automatically: all that are shown, until the last succeeds.
 */
function askAgain(error: Error): void {
  if (isRecovering || !mayPass(error)) return
  isRecovering = true
  setTimeout(() => {
    isRecovering = false
    const predicate = ({ state }: { state: { error: unknown } }) => mayPass(state.error)
    void queryClient.refetchQueries({ type: 'active', predicate })
  }, recoverMs)
}

/**
 * undefined: not known yet; null: nobody is signed in. After the session has ended it is the person who was signed in
 * before, so that the page stays as it is.
 */
export function useMe(): Person | null | undefined {
  const { data, error } = useQuery(meQuery)
  return data === undefined && isSignedOut(error) ? null : data
}

/** Whether the session ended while the page was open. */
export function useSessionEnded(): boolean {
  const { data, error } = useQuery(meQuery)
  return data !== undefined && isSignedOut(error)
}

/** Checks whether somebody has signed in meanwhile: refused queries are then repeated. */
export async function signInAgain(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: meQuery.queryKey })
  if (isSignedOut(queryClient.getQueryState(meQuery.queryKey)?.error)) return
  await queryClient.invalidateQueries()
}

/** The deployment's operators; auditors read everything and change nothing. */
export function roleOf(person: Person | null | undefined): {
  readonly operator: boolean
  readonly admin: boolean
  /** Their own account, or any for an administrator. */
  readonly mayChange: boolean
} {
  const role = person?.role
  const isAuditor = role === 'auditor'
  return { operator: role === 'admin' || isAuditor, admin: role === 'admin', mayChange: !isAuditor }
}

/** Whether each of these has its first answer, or has failed. */
export function useAnswered(...queries: readonly ReturnType<typeof read>[]): boolean {
  return useQueries({
    queries: queries.map((query) => ({ ...query })),
    combine: (results) => results.every(({ isPending }) => !isPending),
  })
}

/** The balance of an account; left out: the signed-in person's. */
export function useBalance(account?: string) {
  const balance =
    account === undefined
      ? read('/api/balance')
      : read('/api/balance', { params: { query: { account } } })
  return useQuery({ ...balance, staleTime: 5_000, refetchInterval: 30_000 })
}

const ofMoney = ['/api/balance', '/api/ledger', '/api/statements', '/api/orders', '/api/people']

/** After an account's money has moved: what shows it is asked again, also on pages that were left. */
export async function refreshMoney(): Promise<void> {
  await Promise.all(ofMoney.map((path) => queryClient.invalidateQueries({ queryKey: [path] })))
}

/** The features that are turned on in this deployment; unknown ones are off. */
export function useFeatures(): Reply<'get', '/api/features'> {
  const { data } = useQuery({ ...read('/api/features'), staleTime: 300_000 })
  return data ?? { statusPage: false }
}
