// One message of a conversation: a question, a tool's result, or an answer with its cost.

import { Trans, useLingui } from '@lingui/react/macro'
import { type ReactNode, useState } from 'react'
import { Button, Buttons, IconButton } from '../../ui/button.tsx'
import { Field, TextArea } from '../../ui/field.tsx'
import { Badge, Copy } from '../../ui/values.tsx'
import { AttachmentList } from './attachment-list.tsx'
import { type Answer, isRunning, type Message } from './chat.ts'
import { FailureNote } from './failure-note.tsx'
import { Figures } from './figures.tsx'
import { Markdown } from './markdown.tsx'
import { ToolCalls } from './tool-calls.tsx'

interface MessageViewProps {
  readonly message: Message
  /** It is the last message: an answer's tool calls wait for results. */
  readonly isLast: boolean
  readonly onEdit: (text: string, again: boolean) => void
  readonly onRemove: () => void
  readonly onAgain: () => void
  readonly onResults: (answer: Answer, results: readonly string[]) => void
}

export function MessageView(props: MessageViewProps) {
  const { message, isLast, onEdit, onAgain, onResults } = props
  const [isEdited, setEdited] = useState(false)
  const isOwn = message.kind !== 'assistant'
  return (
    <li
      className={`flex flex-col gap-2 rounded-card border border-border p-3 ${isOwn ? 'bg-sunken' : 'bg-surface'}`}
    >
      <Head {...props} onEditing={() => setEdited(true)} />
      {isEdited ? (
        <Editing
          text={message.text}
          maySend={message.kind === 'user'}
          onClose={() => setEdited(false)}
          onEdit={onEdit}
        />
      ) : message.kind === 'assistant' ? (
        <AnswerView answer={message} isLast={isLast} onAgain={onAgain} onResults={onResults} />
      ) : (
        <>
          {message.kind === 'user' && <AttachmentList attachments={message.attachments} />}
          <p className="break-words whitespace-pre-wrap">{message.text}</p>
        </>
      )}
    </li>
  )
}

function Head(props: MessageViewProps & { readonly onEditing: () => void }) {
  const { message, onRemove, onAgain, onEditing } = props
  const { t } = useLingui()
  const names = { user: t`You`, tool: t`Tool result`, assistant: t`Answer` }
  const isBusy = isRunning(message)
  const small = 'size-6 max-md:size-11'
  return (
    <div className="flex items-center justify-between gap-2">
      <h3 className="flex min-w-0 items-center gap-2 text-label text-text-2">
        {names[message.kind]}
        {message.kind === 'assistant' && (
          <span className="truncate font-normal">{message.model}</span>
        )}
        {message.kind === 'tool' && <code className="font-mono text-code">{message.name}</code>}
        {message.kind === 'assistant' && message.state === 'stopped' && (
          <Badge tone="warning">
            <Trans>stopped</Trans>
          </Badge>
        )}
      </h3>
      {!isBusy && (
        <span className="flex shrink-0 items-center">
          {message.text !== '' && <Copy text={message.text} />}
          {message.kind === 'assistant' && (
            <IconButton
              icon="refresh"
              label={t`Answer again`}
              className={small}
              onClick={onAgain}
            />
          )}
          <IconButton icon="edit" label={t`Edit`} className={small} onClick={onEditing} />
          <IconButton icon="trash" label={t`Delete`} className={small} onClick={onRemove} />
        </span>
      )}
    </div>
  )
}

interface EditingProps {
  readonly text: string
  readonly maySend: boolean
  readonly onEdit: (text: string, again: boolean) => void
  readonly onClose: () => void
}

function Editing({ text, maySend, onEdit, onClose }: EditingProps) {
  const { t } = useLingui()
  const [typed, setTyped] = useState(text)
  function end(again: boolean) {
    onEdit(typed, again)
    onClose()
  }
  return (
    <div className="flex flex-col gap-2">
      <Field hideLabel label={t`Text of the message`}>
        <TextArea
          autoFocus
          rows={5}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </Field>
      <Buttons>
        {maySend && (
          <Button icon="refresh" onClick={() => end(true)}>
            <Trans>Save and answer again</Trans>
          </Button>
        )}
        <Button onClick={() => end(false)}>
          <Trans>Save</Trans>
        </Button>
        <Button variant="quiet" onClick={onClose}>
          <Trans>Cancel</Trans>
        </Button>
      </Buttons>
    </div>
  )
}

interface AnswerViewProps {
  readonly answer: Answer
  readonly isLast: boolean
  readonly onAgain: () => void
  readonly onResults: (answer: Answer, results: readonly string[]) => void
}

function AnswerView({ answer, isLast, onAgain, onResults }: AnswerViewProps): ReactNode {
  const { text, reasoning, calls, state, requestId, failure } = answer
  const isBusy = isRunning(answer)
  return (
    <>
      {reasoning !== '' && (
        <details className="text-text-2">
          <summary className="text-label">
            <Trans>Reasoning</Trans>
          </summary>
          <p className="mt-1 break-words whitespace-pre-wrap">{reasoning}</p>
        </details>
      )}
      {text !== '' && <Markdown text={text} />}
      {calls.length > 0 && (
        <ToolCalls
          calls={calls}
          onSend={isLast && state === 'done' ? (results) => onResults(answer, results) : undefined}
        />
      )}
      {state === 'waiting' && <div className="skeleton h-5" />}
      {state === 'done' && text === '' && calls.length === 0 && (
        <p className="text-text-3">
          <Trans>The model’s answer is empty.</Trans>
        </p>
      )}
      {failure !== null && <FailureNote failure={failure} onRetry={onAgain} />}
      {!isBusy && requestId !== null && <Figures requestId={requestId} />}
    </>
  )
}
