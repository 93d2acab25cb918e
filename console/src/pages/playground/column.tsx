// One model: its name and price, and its side of the conversation.

import { Trans, useLingui } from '@lingui/react/macro'
import { type ReactNode, useEffect, useRef } from 'react'
import { Button, IconButton } from '../../ui/button.tsx'
import type { Message } from './chat.ts'
import { MessageView } from './message-view.tsx'
import { type Model, ModelPicker, PriceOf } from './picker.tsx'
import type { Playground } from './use-playground.ts'

interface ColumnFrameProps {
  readonly model: string
  readonly models: readonly Model[]
  readonly onModel: (model: string) => void
  /** Left out: it is the only one. */
  readonly onClose: (() => void) | undefined
  readonly children: ReactNode
}

/** A model's column, for any kind of request. */
export function ColumnFrame({ model, models, onModel, onClose, children }: ColumnFrameProps) {
  const { t } = useLingui()
  const known = models.find(({ id }) => id === model)
  return (
    <section
      aria-label={model}
      className="flex min-w-0 flex-col rounded-card border border-border bg-surface"
    >
      <header className="flex min-w-0 items-start justify-between gap-x-3 border-b border-border p-2">
        <span
          // Beside others the price has a line of its own, so that the heads of all are as high.
          className={`flex min-w-0 gap-x-3 gap-y-1 ${onClose === undefined ? 'flex-wrap items-center' : 'flex-col items-start'}`}
        >
          <ModelPicker models={models} value={model} onChange={onModel} />
          {known === undefined ? (
            <span className="text-label font-normal text-text-3">
              <Trans>no known price</Trans>
            </span>
          ) : (
            <PriceOf model={known} />
          )}
        </span>
        {onClose !== undefined && (
          <IconButton icon="close" label={t`Remove ${model}`} onClick={onClose} />
        )}
      </header>
      {children}
    </section>
  )
}

interface ConversationProps {
  readonly place: number
  readonly model: string
  readonly playground: Playground
  /** Why nothing can be sent now. */
  readonly hindrance: string | undefined
}

export function Conversation({ place, model, playground, hindrance }: ConversationProps) {
  const { t } = useLingui()
  const messages = playground.conversationOf(place)
  const end = useFollowing(messages)
  const waits = messages.at(-1)?.kind === 'user'
  const may = hindrance === undefined
  return (
    <div
      ref={end}
      tabIndex={0}
      role="log"
      aria-label={t`Conversation with ${model}`}
      className="h-[calc(100dvh-26rem)] min-h-72 max-md:h-[calc(100dvh-33.5rem)] max-md:min-h-52 overflow-y-auto p-3"
    >
      {messages.length === 0 && (
        <p className="py-12 text-center wrap-anywhere text-text-3">
          <Trans>What {model} answers is shown here, with what it cost.</Trans>
        </p>
      )}
      <ol className="flex flex-col gap-3">
        {messages.map((message, at) => (
          <MessageView
            key={message.id}
            message={message}
            isLast={at === messages.length - 1}
            onEdit={(text, again) => playground.edit(message.id, text, again && may)}
            onRemove={() => playground.remove(message.id)}
            onAgain={() => may && playground.answerAgain(place, message.id)}
            onResults={(answer, results) => may && playground.answerTools(place, answer, results)}
          />
        ))}
      </ol>
      {waits && (
        <Button className="mt-3" disabled={!may} onClick={() => playground.answerAgain(place)}>
          <Trans>Answer</Trans>
        </Button>
      )}
    </div>
  )
}

/** Stays at the end while more arrives, unless the person has scrolled up. */
function useFollowing(messages: readonly Message[]) {
  const element = useRef<HTMLDivElement>(null)
  const follows = useRef(true)
  useEffect(() => {
    const log = element.current
    if (log === null) return
    const look = () => {
      follows.current = log.scrollHeight - log.scrollTop - log.clientHeight < 60
    }
    log.addEventListener('scroll', look, { passive: true })
    return () => log.removeEventListener('scroll', look)
  }, [])
  useEffect(() => {
    const log = element.current
    if (log !== null && messages.length > 0 && follows.current) log.scrollTop = log.scrollHeight
  }, [messages])
  return element
}
