// The shortest call of a model, with this gateway's address and a place for the key.

import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { word } from '../../clients/client.ts'
import { clients } from '../../clients/clients.ts'
import { CodeBlock } from '../../clients/code-block.tsx'
import { Segments } from '../../ui/field.tsx'
import type { Model } from './queries.ts'

const shown = ['curl', 'openai-python', 'openai-js'] as const

export function Snippets({ model }: { readonly model: Model }) {
  const { t } = useLingui()
  const [chosen, choose] = useState<(typeof shown)[number]>('curl')
  const setup = { base: location.origin, key: 'YOUR_KEY', model: model.id }
  const offered = clients.filter(({ id }) => shown.some((name) => name === id))
  const isChat = model.kind === 'chat'
  const steps = offered.find(({ id }) => id === chosen)?.steps(setup) ?? []
  const other = isChat ? null : callOf(model, setup)
  if (!isChat && other === null) return null
  return (
    <section className="flex flex-col gap-3">
      <h3 className="text-section">
        <Trans>Call it</Trans>
      </h3>
      {isChat && (
        <Segments
          label={t`Client`}
          value={chosen}
          options={shown.map((value) => ({
            value,
            label: offered.find(({ id }) => id === value)?.name ?? value,
          }))}
          onChange={choose}
        />
      )}
      {isChat && steps.map((step) => <CodeBlock key={`${chosen} ${step.where}`} {...step} />)}
      {other !== null && <CodeBlock where={null} text={other} />}
    </section>
  )
}

/** The fields sent beside the model, by kind; kinds without a single call have none. */
const bodies: Partial<Record<Model['kind'], Readonly<Record<string, unknown>>>> = {
  completion: { prompt: 'Hello' },
  embedding: { input: 'Hello' },
  image: { prompt: 'a red cat' },
  speech: { voice: 'alloy', input: 'Hello there' },
  moderation: { input: 'Hello' },
  rerank: { query: 'Hello', documents: ['Hello there', 'Goodbye'] },
  video: { prompt: 'a red cat that runs' },
}

function callOf(
  { id, kind, endpoints }: Model,
  { base, key }: { readonly base: string; readonly key: string },
): string | null {
  const endpoint = endpoints[0]
  if (endpoint === undefined) return null
  const lines = [`curl ${word(base + endpoint)}`, `-H ${word(`Authorization: Bearer ${key}`)}`]
  if (kind === 'transcription' || kind === 'translation')
    return [...lines, `-F ${word(`model=${id}`)}`, '-F file=@hello.mp3'].join(' \\\n  ')
  const body = bodies[kind]
  if (body === undefined) return null
  const text = JSON.stringify({ model: id, ...body })
  const sent = [...lines, `-H ${word('Content-Type: application/json')}`, `-d ${word(text)}`]
  return [...sent, ...(kind === 'speech' ? ['-o hello.mp3'] : [])].join(' \\\n  ')
}
