// How a part of a page waits, fails and is empty, each separately, so that the rest of the page continues to work.

import { Trans, useLingui } from '@lingui/react/macro'
import type { UseQueryResult } from '@tanstack/react-query'
import { Component, type ReactNode, useState } from 'react'
import { Problem } from '../api/client.ts'
import { viewedAccount } from '../api/viewing.ts'
import { Button } from './button.tsx'
import { refusalText } from './refusal.ts'

interface WidgetProps<Data> {
  readonly query: Pick<
    UseQueryResult<Data>,
    'data' | 'error' | 'isFetching' | 'isPlaceholderData' | 'refetch'
  >
  /** Shown until the first answer, in the size of the result. */
  readonly skeleton?: ReactNode
  readonly children: (data: Data) => ReactNode
}

/**
 * Shows the answer of a query: first a skeleton, then during a repeat the previous answer (paler), and for a refusal a
 * way to try again, beside old figures if there are some.
 */
export function Widget<Data>({ query, skeleton, children }: WidgetProps<Data>) {
  const { data, error, isFetching, isPlaceholderData, refetch } = query
  // A repeat of what failed begins without its error, which stays until the answer: the page does not move, and the
  // focus stays on the button.
  const [last, setLast] = useState(error)
  const failure = error ?? (data === undefined && isFetching ? last : null)
  if (failure !== last) setLast(failure)
  if (data === undefined) {
    return failure === null ? (
      (skeleton ?? <Skeleton rows={3} />)
    ) : (
      <Failure error={failure} isBusy={isFetching} retry={() => void refetch()} />
    )
  }
  return (
    <Boundary>
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      <div
        aria-busy={isFetching || undefined}
        className={isPlaceholderData ? 'opacity-60 transition-opacity' : ''}
      >
        {children(data)}
      </div>
    </Boundary>
  )
}

/** A part that throws while it is drawn does not affect the others. */
export class Boundary extends Component<
  { readonly children: ReactNode },
  { readonly error: Error | null }
> {
  override state = { error: null as Error | null }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override render() {
    const { error } = this.state
    if (error === null) return this.props.children
    return <Failure error={error} retry={() => this.setState({ error: null })} />
  }
}

interface FailureProps {
  readonly error: Error
  /** It is being tried again. */
  readonly isBusy?: boolean
  readonly retry?: () => void
}

/** What went wrong, in a sentence, with the id to tell support and a way to try again. */
export function Failure({ error, isBusy = false, retry }: FailureProps) {
  return (
    <div
      role="alert"
      className="my-1 rounded-card border border-danger/40 bg-danger-tint p-3 text-text"
    >
      <p>
        <ProblemText error={error} />
      </p>
      {error instanceof Problem && error.requestId !== null && (
        <p className="mt-1 font-mono text-code text-text-2">{error.requestId}</p>
      )}
      {retry !== undefined && (
        <div className="mt-2">
          <Button icon="refresh" busy={isBusy} onClick={retry}>
            <Trans>Try again</Trans>
          </Button>
        </div>
      )}
    </div>
  )
}

/** Why an action failed, shown where it was started. */
export function ProblemLine({
  error,
  wide = false,
}: {
  readonly error: Error
  readonly wide?: boolean
}) {
  return (
    <p role="alert" className={`text-danger ${wide ? 'basis-full' : ''}`}>
      <ProblemText error={error} />
    </p>
  )
}

/** A refusal in words: the common causes in the reader's language, others as the API says them. */
export function ProblemText({ error }: { readonly error: Error }) {
  if (!(error instanceof Problem))
    return <Trans>Something in this page failed: {error.message}</Trans>
  if (error.code === 'offline')
    return <Trans>The gateway cannot be reached. Check your connection.</Trans>
  if (error.code === 'not_loaded')
    return (
      <Trans>
        This part of the console could not be loaded. Check your connection; if the console was
        updated meanwhile, reload the page.
      </Trans>
    )
  if (error.reason !== null) return refusalText(error)
  if (error.status === 401) return <Trans>You are no longer signed in.</Trans>
  if (error.status === 403 && viewedAccount() !== null)
    return (
      <Trans>
        Not while you view as somebody else: nothing is changed, and their private data stays
        hidden.
      </Trans>
    )
  if (error.status === 403) return <Trans>Your role does not allow this.</Trans>
  if (error.status === 412)
    return (
      <Trans>Somebody else changed this meanwhile. Load it again, then make your change.</Trans>
    )
  if (error.code === 'unreadable' && error.status !== 500)
    return (
      <Trans>
        Something between this browser and the gateway answered in its place ({error.message}). Try
        again in a moment.
      </Trans>
    )
  if (error.status === 503)
    return <Trans>The database cannot be reached at the moment. Requests to models continue.</Trans>
  if (error.status >= 500) return <Trans>The gateway failed: {error.message}</Trans>
  return refusalText(error)
}

/** Grey rows of the final height; they show after 200 ms. */
export function Skeleton({
  rows,
  height = 20,
}: {
  readonly rows: number
  readonly height?: number
}) {
  const { t } = useLingui()
  return (
    <div role="status" aria-label={t`Loading`} className="flex flex-col gap-3 p-1">
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className="skeleton" style={{ height }} />
      ))}
    </div>
  )
}

/** What stands in place of parts that are built the same once their values are known. */
export function Blanks({ children }: { readonly children: ReactNode }) {
  const { t } = useLingui()
  return (
    <div role="status" aria-label={t`Loading`}>
      {children}
    </div>
  )
}

/** The place of one value, as high as a line of its text. */
export function Blank({ width = 80 }: { readonly width?: number }) {
  return (
    <span className="inline-flex h-[1lh] max-w-full items-center align-top" style={{ width }}>
      <span className="skeleton block h-[1em] w-full" />
    </span>
  )
}

interface BelowProps {
  /** What is above has its height. */
  readonly isReady: boolean
  readonly children: ReactNode
}

/**
 * Parts below others of unknown height: hidden until those are known, so that nothing moves while it is read. Their own
 * data is requested meanwhile, and after four seconds they are shown all the same.
 */
export function Below({ isReady, children }: BelowProps) {
  return <div className={`flex flex-col gap-6 ${isReady ? '' : 'shown-late'}`}>{children}</div>
}

interface EmptyProps {
  /** One sentence: what will be shown here. */
  readonly title: ReactNode
  readonly children?: ReactNode
  readonly action?: ReactNode
}

export function Empty({ title, children, action }: EmptyProps) {
  return (
    <div className="flex flex-col items-center gap-3 px-4 py-10 text-center">
      <p className="text-section">{title}</p>
      {children !== undefined && <div className="w-full max-w-[60ch] text-text-2">{children}</div>}
      {action}
    </div>
  )
}
