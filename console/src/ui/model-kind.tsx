// The purpose of a model, in a word.

import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'
import { useCallback } from 'react'
import type { Shape } from '../api/client.ts'
import { Badge } from './values.tsx'

type Kind = Shape<'Model'>['kind']

const names: Readonly<Record<Kind, MessageDescriptor>> = {
  chat: msg`chat`,
  completion: msg`completion`,
  embedding: msg`embedding`,
  image: msg`image`,
  transcription: msg`transcription`,
  translation: msg`translation`,
  speech: msg`speech`,
  video: msg`video`,
  moderation: msg`moderation`,
  rerank: msg`rerank`,
  realtime: msg`realtime`,
}

/** A kind of a newer gateway is shown unchanged. */
export function useKindName(): (kind: string) => string {
  const { t } = useLingui()
  return useCallback((kind) => (Object.hasOwn(names, kind) ? t(names[kind as Kind]) : kind), [t])
}

/** What a request did: requests have the kinds of models. */
export function OperationName({ operation }: { readonly operation: string }) {
  return useKindName()(operation)
}

export function KindName({ kind }: { readonly kind: string }) {
  const kindName = useKindName()
  return <Badge>{kindName(kind)}</Badge>
}
