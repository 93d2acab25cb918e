// The message field: text and files for all models at once, and a button to stop them.

import { Trans, useLingui } from '@lingui/react/macro'
import { type DragEvent, type FormEvent, useRef, useState } from 'react'
import { Button, IconButton } from '../../ui/button.tsx'
import { isComposing } from '../../ui/composing.ts'
import { Field, TextArea } from '../../ui/field.tsx'
import { AttachmentList } from './attachment-list.tsx'
import { type AttachmentProblem, mostBytes, readFiles, sizeOf } from './attachments.ts'
import type { Attachment } from './chat.ts'

interface ComposerProps {
  readonly text: string
  readonly onText: (text: string) => void
  readonly isRunning: boolean
  /** Why nothing can be sent now. */
  readonly hindrance: string | undefined
  readonly onSend: (attachments: readonly Attachment[]) => void
  readonly onStop: () => void
}

/** Text is dropped where the browser puts it. */
function allowFiles(event: DragEvent): void {
  if (event.dataTransfer.types.includes('Files')) event.preventDefault()
}

export function Composer({ text, onText, isRunning, hindrance, onSend, onStop }: ComposerProps) {
  const { t } = useLingui()
  const [attachments, setAttachments] = useState<readonly Attachment[]>([])
  const [problem, setProblem] = useState<AttachmentProblem | null>(null)
  const isEmpty = text.trim() === '' && attachments.length === 0
  async function attach(files: Iterable<File>) {
    const found = await readFiles([...files], sizeOf(attachments))
    setAttachments((before) => [...before, ...found.read])
    setProblem(found.problem)
  }
  function submit(event?: FormEvent) {
    event?.preventDefault()
    if (isRunning || isEmpty || hindrance !== undefined) return
    onSend(attachments)
    setAttachments([])
    setProblem(null)
  }
  return (
    <form
      noValidate
      aria-label={t`Message`}
      className="flex flex-col gap-2 rounded-card border border-border bg-surface p-3"
      onSubmit={submit}
      onDragOver={allowFiles}
      onDrop={(event) => {
        if (event.dataTransfer.files.length === 0) return
        event.preventDefault()
        void attach(event.dataTransfer.files)
      }}
    >
      <AttachmentList
        attachments={attachments}
        onRemove={(place) => setAttachments(attachments.filter((_, index) => index !== place))}
      />
      <Field
        hideLabel
        label={t`Your message`}
        error={problem === null ? hindrance : <Unattached problem={problem} />}
      >
        <TextArea
          rows={3}
          value={text}
          placeholder={t`Ask something. Enter sends, Shift+Enter is a new line.`}
          onChange={(event) => onText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.shiftKey && !isComposing(event)) {
              event.preventDefault()
              submit()
            }
          }}
          onPaste={(event) => {
            if (event.clipboardData.files.length > 0) void attach(event.clipboardData.files)
          }}
        />
      </Field>
      <div className="flex items-center justify-between gap-2">
        <FileButton onFiles={(files) => void attach(files)} />
        {isRunning ? (
          <Button icon="stop" onClick={onStop}>
            <Trans>Stop</Trans>
          </Button>
        ) : (
          <Button variant="primary" type="submit" disabled={isEmpty}>
            <Trans>Send</Trans>
          </Button>
        )}
      </div>
    </form>
  )
}

function Unattached({ problem }: { readonly problem: AttachmentProblem }) {
  if (problem.kind === 'too-large')
    return (
      <Trans>
        {problem.name} is too large: the files of a message may have {mostBytes / 1024 / 1024} MiB
        together.
      </Trans>
    )
  return (
    <Trans>
      {problem.name} is of a kind that cannot be sent: pictures (PNG, JPEG, GIF, WebP), sound (WAV,
      MP3), PDF and texts can.
    </Trans>
  )
}

function FileButton({ onFiles }: { readonly onFiles: (files: FileList) => void }) {
  const { t } = useLingui()
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={t`Files to attach`}
        onChange={({ target }) => {
          if (target.files !== null) onFiles(target.files)
          target.value = ''
        }}
      />
      <IconButton icon="upload" label={t`Attach files`} onClick={() => input.current?.click()} />
    </>
  )
}
