// Short notices of what happened in the background, read aloud, with an optional action, such as to undo it.

import { Trans, useLingui } from '@lingui/react/macro'
import { type ReactNode, useId, useLayoutEffect, useSyncExternalStore } from 'react'
import { Problem } from '../api/client.ts'
import { Button, IconButton } from './button.tsx'
import { ProblemText } from './state.tsx'

interface Toast {
  readonly id: number
  readonly text: ReactNode
  readonly tone: 'info' | 'danger'
  readonly action?: { readonly label: string; readonly run: () => void }
}

const shownForMs = 10_000
const none: readonly Toast[] = []
let toasts = none
let lastId = 0
/** Where they can be shown, the last opened last. */
let places: readonly string[] = []
const listeners = new Set<() => void>()

function set(next: readonly Toast[]): void {
  toasts = next
  tell()
}

function setPlaces(next: readonly string[]): void {
  places = next
  tell()
}

function tell(): void {
  for (const listener of listeners) listener()
}

/** Shows a notice for ten seconds: `showToast({ text: t`Key deleted`, tone: 'info' })`. */
export function showToast(toast: Omit<Toast, 'id'>): void {
  lastId += 1
  const id = lastId
  set([...toasts.slice(-2), { ...toast, id }])
  setTimeout(() => dismiss(id), shownForMs)
}

/**
 * Why what was asked for was not done, where no place on the page belongs to it. Who sends If-Match also requests what
 * is shown again, as the text says.
 */
export function showProblem(error: Error): void {
  const isStale = error instanceof Problem && error.status === 412
  const text = isStale ? (
    <Trans>Somebody else changed this meanwhile. You now see the newest state: decide again.</Trans>
  ) : (
    <ProblemText error={error} />
  )
  showToast({ text, tone: 'danger' })
}

function dismiss(id: number): void {
  set(toasts.filter((toast) => toast.id !== id))
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/**
 * Stands in the page and in each dialog, and shows them in the one on top: what lies below a dialog is neither seen,
 * read aloud nor pressed.
 */
export function Toasts() {
  const { t } = useLingui()
  const place = useId()
  useLayoutEffect(() => {
    setPlaces([...places, place])
    return () => setPlaces(places.filter((other) => other !== place))
  }, [place])
  const shown = useSyncExternalStore(subscribe, () => (places.at(-1) === place ? toasts : none))
  return (
    <div
      aria-live="polite"
      className="fixed right-4 bottom-4 z-50 flex max-w-[calc(100vw-2rem)] flex-col gap-2"
    >
      {shown.map(({ id, text, tone, action }) => (
        <div
          key={id}
          className={`fade-in flex items-center gap-3 rounded-card border bg-surface py-2 pr-2 pl-4 shadow-overlay ${tone === 'danger' ? 'border-danger/50 text-danger' : 'border-border'}`}
        >
          <span>{text}</span>
          {action !== undefined && (
            <Button
              variant="quiet"
              onClick={() => {
                action.run()
                dismiss(id)
              }}
            >
              {action.label}
            </Button>
          )}
          <IconButton icon="close" label={t`Dismiss`} onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  )
}
