// Requests pictures or speech from models, side by side.

import { Trans, useLingui } from '@lingui/react/macro'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { randomId } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input, TextArea } from '../../ui/field.tsx'
import { FailureNote } from './failure-note.tsx'
import { Figures } from './figures.tsx'
import { askMedia, type MediaAsked, type MediaKind, type MediaResult } from './media.ts'

interface MediaFormProps {
  readonly kind: MediaKind
  readonly asked: MediaAsked
  readonly onChange: (change: Partial<MediaAsked>) => void
  readonly isRunning: boolean
  readonly mayAsk: boolean
  readonly onAsk: () => void
  readonly onStop: () => void
}

export function MediaForm(props: MediaFormProps) {
  const { kind, asked, onChange, isRunning, mayAsk, onAsk, onStop } = props
  const { t } = useLingui()
  function submit(event: FormEvent) {
    event.preventDefault()
    if (!isRunning && mayAsk && asked.text.trim() !== '') onAsk()
  }
  return (
    <form
      noValidate
      aria-label={t`Message`}
      className="flex flex-col gap-2 rounded-card border border-border bg-surface p-3"
      onSubmit={submit}
    >
      <Field label={kind === 'image' ? t`What the picture shows` : t`What is spoken`}>
        <TextArea
          rows={3}
          value={asked.text}
          onChange={(event) => onChange({ text: event.target.value })}
        />
      </Field>
      <div className="flex flex-wrap items-end justify-between gap-2">
        <div className="w-48">
          {kind === 'image' ? (
            <Field label={t`Size`}>
              <Input
                value={asked.size}
                placeholder="1024x1024"
                onChange={(event) => onChange({ size: event.target.value.trim() })}
              />
            </Field>
          ) : (
            <Field label={t`Voice`}>
              <Input
                value={asked.voice}
                onChange={(event) => onChange({ voice: event.target.value.trim() })}
              />
            </Field>
          )}
        </div>
        {isRunning ? (
          <Button icon="stop" onClick={onStop}>
            <Trans>Stop</Trans>
          </Button>
        ) : (
          <Button variant="primary" type="submit" disabled={asked.text.trim() === '' || !mayAsk}>
            {kind === 'image' ? <Trans>Make a picture</Trans> : <Trans>Speak</Trans>}
          </Button>
        )}
      </div>
    </form>
  )
}

/** Results of this page, newest first; they are gone with it. */
export function useMedia(kind: MediaKind, group: string | undefined) {
  const [results, setResults] = useState<readonly MediaResult[]>([])
  const running = useRef(new Set<AbortController>())
  const sources = useRef<readonly string[]>([])
  sources.current = results.flatMap((result) => result.sources)
  const stop = () => {
    for (const leave of running.current) leave.abort()
  }
  useEffect(() => {
    const all = running.current
    return () => {
      for (const leave of all) leave.abort()
      for (const source of sources.current) URL.revokeObjectURL(source)
    }
  }, [])
  async function ask(asked: MediaAsked) {
    const leave = new AbortController()
    const { model, text } = asked
    const id = randomId()
    const empty = { state: 'waiting', sources: [], requestId: null, failure: null } as const
    setResults((before) => [{ id, model, text, ...empty }, ...before])
    running.current.add(leave)
    const outcome = await askMedia({ kind, asked, group, signal: leave.signal })
    running.current.delete(leave)
    setResults((now) => now.map((each) => (each.id === id ? { ...each, ...outcome } : each)))
  }
  return {
    results,
    ask,
    stop,
    clear: () => setResults([]),
    isRunning: results.some(({ state }) => state === 'waiting'),
  }
}

interface ResultsProps {
  readonly kind: MediaKind
  readonly results: readonly MediaResult[]
}

export function Results({ kind, results }: ResultsProps) {
  return (
    <ol className="flex min-h-72 flex-col gap-3 p-3">
      {results.length === 0 && (
        <li className="py-12 text-center text-text-3">
          <Trans>What it makes is shown here, with what it cost.</Trans>
        </li>
      )}
      {results.map((result) => (
        <li key={result.id} className="flex flex-col gap-2 rounded-card border border-border p-3">
          <p className="break-words text-text-2">{result.text}</p>
          {result.state === 'waiting' && <div className="skeleton h-40" />}
          {result.state === 'stopped' && (
            <p className="text-text-3">
              <Trans>Stopped before it was done.</Trans>
            </p>
          )}
          {result.sources.map((source) => (
            <Medium key={source} kind={kind} source={source} text={result.text} />
          ))}
          {result.failure !== null && <FailureNote failure={result.failure} />}
          {result.state !== 'waiting' && result.requestId !== null && (
            <Figures requestId={result.requestId} />
          )}
        </li>
      ))}
    </ol>
  )
}

interface MediumProps {
  readonly kind: MediaKind
  readonly source: string
  readonly text: string
}

function Medium({ kind, source, text }: MediumProps) {
  const { t } = useLingui()
  const isOwn = new URL(source, location.href).origin === location.origin
  if (!isOwn)
    return (
      <a href={source} target="_blank" rel="noopener nofollow noreferrer">
        <Trans>Open what was made</Trans>
      </a>
    )
  return (
    <>
      {kind === 'image' ? (
        <img
          src={source}
          alt={text}
          className="max-h-[60vh] max-w-full self-start rounded-control"
        />
      ) : (
        <audio controls src={source} aria-label={t`Speech: ${text}`} className="w-full" />
      )}
      <a
        href={source}
        download={kind === 'image' ? 'picture.png' : 'speech.mp3'}
        className="self-start"
      >
        <Trans>Download</Trans>
      </a>
    </>
  )
}
