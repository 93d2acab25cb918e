// One turn of a conversation: text, collapsed reasoning, tool calls with their results, stored media.

import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useState } from 'react'
import { Problem } from '../../api/client.ts'
import { Failure } from '../../ui/state.tsx'
import { Badge, Copy } from '../../ui/values.tsx'
import type { LoadBlob } from './blobs.ts'
import type { Part, Turn } from './conversation.ts'

interface TurnViewProps {
  readonly turn: Turn
  /** The same function as long as the message is the same. */
  readonly loadBlob: LoadBlob
}

export function TurnView({ turn, loadBlob }: TurnViewProps) {
  const { t } = useLingui()
  const isOwn = turn.role === 'user'
  const names: Readonly<Record<string, string>> = {
    user: t`User`,
    assistant: t`Answer`,
    system: t`System prompt`,
    developer: t`System prompt`,
    tool: t`Tool result`,
  }
  return (
    <article
      className={`rounded-card border border-border p-3 ${isOwn ? 'bg-sunken' : 'bg-surface'}`}
    >
      <h4 className="mb-1 text-label text-text-2">{names[turn.role] ?? turn.role}</h4>
      <div className="flex flex-col gap-2">
        {turn.parts.map((part, index) => (
          <PartView key={index} part={part} loadBlob={loadBlob} />
        ))}
      </div>
    </article>
  )
}

interface PartViewProps {
  readonly part: Part
  readonly loadBlob: LoadBlob
}

function PartView({ part, loadBlob }: PartViewProps) {
  if (part.kind === 'text')
    return (
      <div className="group relative">
        <p className="break-words whitespace-pre-wrap">{part.text}</p>
        <span className="absolute -top-6 right-0">
          <Copy text={part.text} />
        </span>
      </div>
    )
  if (part.kind === 'reasoning')
    return (
      <details className="text-text-2">
        <summary>
          <Trans>Reasoning</Trans>
        </summary>
        <p className="mt-1 break-words whitespace-pre-wrap">{part.text}</p>
      </details>
    )
  if (part.kind === 'media') return <Media source={part.source} loadBlob={loadBlob} />
  const isCall = part.kind === 'call'
  return (
    <details open className="rounded-control border border-border">
      <summary className="flex flex-wrap items-center gap-2 px-2 py-1">
        <Badge tone={isCall ? 'info' : 'neutral'}>
          {isCall ? <Trans>Tool call</Trans> : <Trans>Tool result</Trans>}
        </Badge>
        {isCall && <code className="font-mono text-code">{part.name}</code>}
        <code className="font-mono text-code text-text-3">{part.id}</code>
      </summary>
      <pre
        tabIndex={0}
        className="max-h-72 overflow-auto border-t border-border p-2 font-mono text-code"
      >
        {isCall ? part.input : part.text}
      </pre>
    </details>
  )
}

interface MediaProps {
  readonly source: string
  readonly loadBlob: LoadBlob
}

/** Stored content is loaded; an address of another site is only shown, since opening it would reveal who reads. */
function Media({ source, loadBlob }: MediaProps) {
  const { t } = useLingui()
  const [blob, setBlob] = useState<Blob | null>(null)
  const [failed, setFailed] = useState<Error | null>(null)
  const isKept = source.startsWith('blob:')
  useEffect(() => {
    if (!isKept || failed !== null) return
    const gone = new AbortController()
    loadBlob(source.slice('blob:'.length), gone.signal)
      .then(setBlob)
      .catch((error: Error) => {
        if (!gone.signal.aborted) setFailed(error)
      })
    return () => gone.abort()
  }, [isKept, loadBlob, source, failed])
  const url = useObjectUrl(blob)
  if (!isKept) return <code className="font-mono text-code break-all">{source}</code>
  if (failed instanceof Problem && failed.status === 404)
    return (
      <p className="text-text-3">
        <Trans>This file is not kept any more.</Trans>
      </p>
    )
  if (failed !== null) return <Failure error={failed} retry={() => setFailed(null)} />
  if (blob === null || url === null) return <div className="skeleton h-24" />
  if (blob.type.startsWith('image/'))
    return (
      <img
        src={url}
        alt={t`Image of the message`}
        className="max-h-80 max-w-full rounded-control"
      />
    )
  if (blob.type.startsWith('audio/')) return <audio controls src={url} className="w-full" />
  return (
    <a href={url} download>
      <Trans>
        File ({blob.type}, {blob.size} bytes)
      </Trans>
    </a>
  )
}

function useObjectUrl(blob: Blob | null): string | null {
  const [url, setUrl] = useState<string | null>(null)
  useEffect(() => {
    if (blob === null) return
    const made = URL.createObjectURL(blob)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [blob])
  return url
}
