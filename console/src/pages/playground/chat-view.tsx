// Chats: columns of conversations above one composer, and the settings of every request beside them.

import { Trans, useLingui } from '@lingui/react/macro'
import { type ReactNode, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { showToast } from '../../ui/toast.tsx'
import { chatBody } from './chat.ts'
import { CodeDialog } from './code-dialog.tsx'
import { ColumnFrame, Conversation } from './column.tsx'
import { Composer } from './composer.tsx'
import type { Model } from './picker.tsx'
import { mostModels } from './search.ts'
import { SettingsPanel } from './settings-panel.tsx'
import { hasProblem, problemsOf } from './settings-problems.ts'
import type { Playground } from './use-playground.ts'

export interface ViewProps {
  /** Of the kind that is shown. */
  readonly models: readonly Model[]
  readonly all: readonly Model[]
  readonly chosen: readonly string[]
  readonly group: string | undefined
  readonly note: ReactNode
  readonly groupChoice: ReactNode
  readonly onModels: (models: readonly string[]) => void
}

interface ChatViewProps extends ViewProps {
  readonly playground: Playground
}

export function ChatView(props: ChatViewProps) {
  const { playground, all, chosen, note, onModels } = props
  const { t } = useLingui()
  const { draft, isRunning } = playground
  const problems = problemsOf(draft.settings)
  const hindrance = hasProblem(problems)
    ? t`A parameter or the tools are not right: see Parameters.`
    : chosen.length === 0
      ? t`This group has no model with a price.`
      : undefined
  const [wanted, setWanted] = useState<boolean | null>(null)
  const isShown = wanted ?? chosen.length <= columnsBesideSettings()
  function remove(place: number) {
    playground.removeColumn(place)
    onModels(chosen.filter((_, index) => index !== place))
  }
  return (
    <Page
      title={<Trans>Playground</Trans>}
      purpose={<Trans>Ask models side by side. Each answer shows what it took and cost.</Trans>}
      actions={
        <>
          <Actions {...props} mayShowCode={hindrance === undefined} />
          <Button icon="settings" aria-pressed={isShown} onClick={() => setWanted(!isShown)}>
            <Trans>Parameters</Trans>
          </Button>
        </>
      }
    >
      {note}
      <div
        className={`grid items-start gap-4 ${isShown ? 'xl:grid-cols-[minmax(0,1fr)_300px]' : ''}`}
      >
        <div className="flex min-w-0 flex-col gap-4 max-xl:order-last">
          <Columns>
            {chosen.map((model, place) => (
              <ColumnFrame
                key={place}
                model={model}
                models={all}
                onModel={(other) => onModels(chosen.with(place, other))}
                onClose={chosen.length === 1 ? undefined : () => remove(place)}
              >
                <Conversation {...{ place, model, playground, hindrance }} />
              </ColumnFrame>
            ))}
          </Columns>
          <Composer
            text={draft.text}
            onText={playground.setText}
            isRunning={isRunning}
            hindrance={hindrance}
            onSend={playground.send}
            onStop={() => playground.stop()}
          />
        </div>
        {isShown && (
          <SettingsPanel
            settings={draft.settings}
            problems={problems}
            onChange={playground.setSettings}
          />
        )}
      </div>
    </Page>
  )
}

/** How many columns have room beside the settings, which are hidden for more unless somebody wants them. */
function columnsBesideSettings(): number {
  if (innerWidth < 1280) return 0
  return innerWidth < 1440 ? 2 : 3
}

interface ActionsProps extends ChatViewProps {
  readonly mayShowCode: boolean
}

function Actions({ playground, models, chosen, groupChoice, onModels, mayShowCode }: ActionsProps) {
  const { t } = useLingui()
  const next = models.find(({ id }) => !chosen.includes(id))?.id ?? chosen[0]
  const isEmpty = playground.draft.conversations.every(({ length }) => length === 0)
  function compare() {
    if (next === undefined) return
    playground.addColumn()
    onModels([...chosen, next])
  }
  function clear() {
    const action = { label: t`Undo`, run: playground.clear() }
    showToast({ text: t`The conversation was cleared.`, tone: 'info', action })
  }
  return (
    <>
      {groupChoice}
      <Button icon="plus" disabled={chosen.length >= mostModels} onClick={compare}>
        <Trans>Compare</Trans>
      </Button>
      <Code playground={playground} chosen={chosen} isDisabled={!mayShowCode} />
      <Button disabled={isEmpty} onClick={clear}>
        <Trans>Clear</Trans>
      </Button>
    </>
  )
}

/** Side by side, with horizontal scrolling if there is no room. */
export function Columns({ children }: { readonly children: ReactNode }) {
  return (
    <div className="grid snap-x auto-cols-[minmax(min(100%,264px),1fr)] grid-flow-col gap-4 overflow-x-auto *:snap-start">
      {children}
    </div>
  )
}

interface CodeProps {
  readonly playground: Playground
  readonly chosen: readonly string[]
  readonly isDisabled: boolean
}

/** The request to the first model: what would be sent now, with the typed message. */
function Code({ playground, chosen, isDisabled }: CodeProps) {
  const [isOpen, setOpen] = useState(false)
  const { text, settings } = playground.draft
  const typed = { kind: 'user', id: '', text, attachments: [] } as const
  const messages = playground.conversationOf(0)
  const asked =
    text.trim() === '' && messages.length > 0 ? upToQuestion(messages) : [...messages, typed]
  return (
    <>
      <Button disabled={isDisabled || chosen.length === 0} onClick={() => setOpen(true)}>
        <Trans>View code</Trans>
      </Button>
      {isOpen && (
        <CodeDialog
          path="/v1/chat/completions"
          body={chatBody(chosen[0] ?? '', asked, settings)}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  )
}

/** The message that the last answer replied to. */
function upToQuestion<Each extends { readonly kind: string }>(messages: readonly Each[]) {
  const last = messages.findLastIndex(({ kind }) => kind !== 'assistant')
  return messages.slice(0, last + 1)
}
