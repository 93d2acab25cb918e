// One small call to a channel, as it is stored or as it is typed, with the raw exchange.

import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { change, type Shape } from '../../api/client.ts'
import { CodeBlock } from '../../clients/code-block.tsx'
import { Button } from '../../ui/button.tsx'
import { isComposing } from '../../ui/composing.ts'
import { Field, Input } from '../../ui/field.tsx'
import { Failure } from '../../ui/state.tsx'
import { Duration, Status } from '../../ui/values.tsx'
import { type Channel, refreshChannels } from './channels.ts'
import { Section } from './parts.tsx'

type Test = Shape<'ChannelTest'>

interface ChannelTestProps {
  /** null: the channel is not made yet. */
  readonly id: string | null
  readonly models: Channel['models']
  /** The typed values, if those are to be tested. */
  readonly draft?: (() => Shape<'ChannelInput'>) | undefined
}

export function ChannelTest({ id, models, draft }: ChannelTestProps) {
  const { t } = useLingui()
  const [model, setModel] = useState('')
  const names = useId()
  const client = useQueryClient()
  const test = useMutation({
    // The last test is shown with the channel.
    onSuccess: () => void refreshChannels(client),
    mutationFn: (): Promise<Test> => {
      const asked = model.trim() === '' ? {} : { model: model.trim() }
      if (draft !== undefined)
        return change('post', '/api/channels/test', {
          body: { channel: draft(), ...asked } as never,
        })
      return change('post', '/api/channels/{id}/test', {
        params: { path: { id: id ?? '' } },
        body: asked,
      })
    },
  })
  return (
    <Section title={<Trans>Test</Trans>}>
      <p className="text-text-2">
        {draft === undefined ? (
          <Trans>One small call, for which the vendor may charge.</Trans>
        ) : (
          <Trans>
            One small call with what is typed here, for which the vendor may charge. Nothing is
            stored.
          </Trans>
        )}
      </p>
      <div className="flex flex-wrap items-end gap-2">
        <div className="w-72 max-md:w-full">
          <Field label={t`Model to ask`}>
            <Input
              list={names}
              value={model}
              autoComplete="off"
              spellCheck={false}
              placeholder={t`the first that answers with text`}
              onChange={(event) => setModel(event.target.value)}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' || isComposing(event)) return
                // It would send the form that this stands in.
                event.preventDefault()
                if (!test.isPending) test.mutate()
              }}
            />
          </Field>
          <datalist id={names}>
            {Object.keys(models ?? {}).map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </div>
        <Button icon="play" busy={test.isPending} onClick={() => test.mutate()}>
          {draft === undefined ? t`Test the channel` : t`Test what is typed`}
        </Button>
      </div>
      <div aria-live="polite">
        {test.error !== null && <Failure error={test.error} />}
        {test.data !== undefined && <Result test={test.data} />}
      </div>
    </Section>
  )
}

function Result({ test }: { readonly test: Test }) {
  const { t } = useLingui()
  const { ok, message, durationMs, exchange } = test
  return (
    <div className="flex flex-col gap-3">
      <p>
        <Status tone={ok ? 'ok' : 'failed'}>{ok ? t`It answered` : t`It failed`}</Status>{' '}
        <span className="text-text-2">
          <Duration ms={durationMs} /> · {message}
        </span>
      </p>
      {exchange !== null && (
        <>
          <CodeBlock where={t`Request`} text={requestText(exchange.request)} />
          {exchange.reply === null ? (
            <p className="text-text-2">
              <Trans>No reply came.</Trans>
            </p>
          ) : (
            <CodeBlock
              where={t`Reply`}
              text={messageText(
                `HTTP ${exchange.reply.status}`,
                exchange.reply.headers,
                exchange.reply.body,
              )}
            />
          )}
        </>
      )}
    </div>
  )
}

type Exchange = NonNullable<Test['exchange']>

function requestText({ method, address, headers, body }: Exchange['request']): string {
  return messageText(`${method} ${address}`, headers, body)
}

function messageText(
  line: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): string {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [line, ...fields, '', readable(body)].join('\n')
}

/** JSON with line breaks; anything else unchanged. */
function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
