// Pictures and speech: columns of results above one form.

import { Trans } from '@lingui/react/macro'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { Columns, type ViewProps } from './chat-view.tsx'
import { CodeDialog } from './code-dialog.tsx'
import { ColumnFrame } from './column.tsx'
import { type MediaKind, mediaBody, mediaPaths } from './media.ts'
import { MediaForm, Results, useMedia } from './media-page.tsx'
import { mostModels } from './search.ts'

export function MediaView(props: ViewProps & { readonly kind: MediaKind }) {
  const { kind, models, all, chosen, group, groupChoice, note, onModels } = props
  const media = useMedia(kind, group)
  const [asked, setAsked] = useState({ text: '', size: '', voice: 'alloy' })
  const [isCode, setCode] = useState(false)
  const next = models.find(({ id }) => !chosen.includes(id))?.id
  const bodyFor = (model: string) => ({ model, ...asked })
  return (
    <Page
      title={<Trans>Playground</Trans>}
      purpose={<Trans>Ask models side by side. Each answer shows what it took and cost.</Trans>}
      actions={
        <>
          {groupChoice}
          <Button
            icon="plus"
            disabled={chosen.length >= mostModels || next === undefined}
            onClick={() => next !== undefined && onModels([...chosen, next])}
          >
            <Trans>Compare</Trans>
          </Button>
          <Button onClick={() => setCode(true)}>
            <Trans>View code</Trans>
          </Button>
          <Button disabled={media.results.length === 0 || media.isRunning} onClick={media.clear}>
            <Trans>Clear</Trans>
          </Button>
        </>
      }
    >
      {note}
      <Columns>
        {chosen.map((model, place) => (
          <ColumnFrame
            key={place}
            model={model}
            models={all}
            onModel={(other) => onModels(chosen.with(place, other))}
            onClose={
              chosen.length === 1
                ? undefined
                : () => onModels(chosen.filter((_, index) => index !== place))
            }
          >
            <Results kind={kind} results={media.results.filter((each) => each.model === model)} />
          </ColumnFrame>
        ))}
      </Columns>
      <MediaForm
        kind={kind}
        asked={bodyFor(chosen[0] ?? '')}
        onChange={(change) => setAsked((before) => ({ ...before, ...change }))}
        isRunning={media.isRunning}
        mayAsk={chosen.length > 0}
        onAsk={() => {
          for (const model of new Set(chosen)) void media.ask(bodyFor(model))
        }}
        onStop={media.stop}
      />
      {isCode && (
        <CodeDialog
          path={mediaPaths[kind]}
          body={mediaBody(kind, bodyFor(chosen[0] ?? ''))}
          onClose={() => setCode(false)}
        />
      )}
    </Page>
  )
}
