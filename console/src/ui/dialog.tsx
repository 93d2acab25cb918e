// Dialogs to create and to confirm, and the drawer that shows one entry beside its list; based on the platform's
// <dialog>.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import {
  type FormEvent,
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { Problem } from '../api/client.ts'
import { Button, IconButton } from './button.tsx'
import { Field, Input } from './field.tsx'
import { ProblemLine } from './state.tsx'
import { Toasts } from './toast.tsx'

interface DialogProps {
  readonly title: ReactNode
  readonly onClose: () => void
  readonly children: ReactNode
  /** The row of buttons at its end. */
  readonly footer?: ReactNode
  readonly wide?: boolean
  /** Typed text or a secret would be lost: Escape, a click outside and going back do not close it. */
  readonly keep?: boolean
  /** Its request is running: opened anew meanwhile, it would send a second one. It cannot be closed before the answer. */
  readonly busy?: boolean
}

const firstField = ['input', 'select', 'textarea']
  .map((name) => `form ${name}:not([type=radio], :disabled)`)
  .join()

/** It is open while it is mounted. The focus moves into it, stays there, and returns to where it was. */
export function Dialog({
  title,
  onClose,
  children,
  footer,
  wide = false,
  keep: keepsText = false,
  busy = false,
}: DialogProps) {
  const { t } = useLingui()
  const keep = keepsText || busy
  const element = useRef<HTMLDialogElement>(null)
  const heading = useId()
  const isPressedBeside = useRef(false)
  useBlocker({
    shouldBlockFn: ({ action }) => keep && action !== 'PUSH' && action !== 'REPLACE',
    enableBeforeUnload: keep,
  })
  // The platform returns the focus at `close`, but not once the dialog has left the page.
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    // Otherwise the focus is on the close button, where Enter would discard the form.
    dialog?.querySelector<HTMLElement>(firstField)?.focus()
    return () => dialog?.close()
  }, [])
  return (
    // A click on the backdrop has the dialog itself as its target; the keyboard has Escape.
    <dialog
      ref={element}
      aria-labelledby={heading}
      // Chrome lets `cancel` refuse only the first of two Escapes.
      onKeyDown={(event) => {
        if (keep && event.key === 'Escape') event.preventDefault()
      }}
      onCancel={(event) => {
        event.preventDefault()
        if (!keep) onClose()
      }}
      // Selecting text and releasing the button outside the dialog is not a click outside.
      onPointerDown={(event) => {
        isPressedBeside.current = event.target === element.current
      }}
      onClick={(event) => {
        if (!keep && isPressedBeside.current && event.target === element.current) onClose()
      }}
      className={`fade-in m-auto max-h-[90dvh] w-full overflow-y-auto wrap-anywhere rounded-dialog border border-border bg-surface p-0 text-text shadow-overlay max-md:m-0 max-md:h-dvh max-md:max-h-dvh max-md:max-w-full max-md:rounded-none ${wide ? 'max-w-3xl' : 'max-w-lg'}`}
    >
      <header className="sticky top-0 flex items-center justify-between gap-4 border-b border-border bg-surface py-2 pr-2 pl-5">
        <h2 id={heading} className="text-section">
          {title}
        </h2>
        <IconButton icon="close" label={t`Close`} disabled={busy} onClick={onClose} />
      </header>
      <div className="p-5">{children}</div>
      {footer !== undefined && (
        <footer className="sticky bottom-0 flex flex-wrap justify-end gap-2 border-t border-border bg-surface px-5 py-3">
          {footer}
        </footer>
      )}
      <Toasts />
    </dialog>
  )
}

interface ConfirmProps {
  readonly title: ReactNode
  readonly children: ReactNode
  /** The button's label: the verb and its object. */
  readonly action: string
  readonly danger?: boolean
  /** A text that has to be typed first. */
  readonly typed?: string
  readonly onConfirm: () => Promise<unknown>
  readonly onClose: () => void
}

/**
 * Asks for confirmation of an irreversible action; stays open with the reason if it fails. If somebody else changed the
 * item meanwhile, repeating cannot succeed: the page is loaded again instead.
 */
export function Confirm({
  title,
  children,
  action,
  danger = true,
  typed,
  onConfirm,
  onClose,
}: ConfirmProps) {
  const client = useQueryClient()
  const [text, setText] = useState('')
  const [error, setError] = useState<Error | null>(null)
  const [isBusy, setBusy] = useState(false)
  const form = useId()
  const isStale = error instanceof Problem && error.status === 412
  const isTyped = typed === undefined || asShown(text) === asShown(typed)
  function close() {
    if (isStale) void client.invalidateQueries()
    onClose()
  }
  async function submit(event: FormEvent) {
    event.preventDefault()
    // It may be shown by a part of another form, which must not be sent with it.
    event.stopPropagation()
    if (isBusy || isStale || !isTyped) return
    setBusy(true)
    try {
      await onConfirm()
      onClose()
    } catch (failure) {
      setError(failure as Error)
      setBusy(false)
    }
  }
  return (
    <Dialog
      busy={isBusy}
      title={title}
      onClose={close}
      footer={
        <>
          <Button disabled={isBusy} onClick={close}>
            <Trans>Cancel</Trans>
          </Button>
          {isStale ? (
            <LoadAgain onClick={close} />
          ) : (
            <Button
              form={form}
              type="submit"
              variant={danger ? 'danger' : 'primary'}
              busy={isBusy}
              disabled={!isTyped}
            >
              {action}
            </Button>
          )}
        </>
      }
    >
      <form id={form} onSubmit={submit} className="flex flex-col gap-3">
        {children}
        {typed !== undefined && <Typed typed={typed} text={text} onChange={setText} />}
        {error !== null && <ProblemLine error={error} />}
      </form>
    </Dialog>
  )
}

/** Several blanks are shown as one, so that more cannot be typed from what is seen. */
function asShown(text: string): string {
  return text.normalize('NFC').replaceAll(/\s+/g, ' ').trim()
}

interface TypedProps {
  readonly typed: string
  readonly text: string
  readonly onChange: (text: string) => void
}

function Typed({ typed, text, onChange }: TypedProps) {
  return (
    <Field label={<Trans>Type {typed} to confirm</Trans>}>
      <Input value={text} onChange={({ target }) => onChange(target.value)} autoComplete="off" />
    </Field>
  )
}

function LoadAgain({ onClick }: { readonly onClick: () => void }) {
  return (
    <Button variant="primary" icon="refresh" onClick={onClick}>
      <Trans>Load it again</Trans>
    </Button>
  )
}

interface DrawerProps {
  /** Its subject; read aloud when it opens. */
  readonly label: string
  readonly header: ReactNode
  readonly onClose: () => void
  /** Moves to the previous or next row, by the buttons and by K and J. */
  readonly onPrevious?: (() => void) | undefined
  readonly onNext?: (() => void) | undefined
  readonly children: ReactNode
}

/** One entry beside its list: 640 px at the right, the whole page below 1024 px. The list can still be used. */
export function Drawer({ label, header, onClose, onPrevious, onNext, children }: DrawerProps) {
  const { t } = useLingui()
  const element = useRef<HTMLElement>(null)
  useEffect(() => {
    const before = document.activeElement
    element.current?.focus()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  useEffect(() => {
    function press(event: KeyboardEvent) {
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return
      if (isTyping(event.target) || document.querySelector('dialog[open]') !== null) return
      const act = { Escape: onClose, j: onNext, k: onPrevious }[event.key]
      if (act === undefined) return
      event.preventDefault()
      act()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [onClose, onNext, onPrevious])
  return (
    <aside
      ref={element}
      tabIndex={-1}
      aria-label={label}
      className="fade-in fixed inset-y-0 right-0 z-40 flex w-full flex-col border-l border-border bg-surface wrap-anywhere shadow-overlay outline-none lg:w-[640px]"
    >
      <header className="flex items-center gap-2 border-b border-border py-2 pr-2 pl-4">
        <div className="min-w-0 flex-1">{header}</div>
        {(onPrevious !== undefined || onNext !== undefined) && (
          <>
            <IconButton
              icon="up"
              label={t`Previous (K)`}
              disabled={onPrevious === undefined}
              onClick={onPrevious}
            />
            <IconButton
              icon="down"
              label={t`Next (J)`}
              disabled={onNext === undefined}
              onClick={onNext}
            />
          </>
        )}
        <IconButton icon="close" label={t`Close (Esc)`} onClick={onClose} />
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto p-4">{children}</div>
    </aside>
  )
}

const typedInto = 'textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])'

/** Whether a key that was pressed is meant for a field. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches(typedInto)
}
