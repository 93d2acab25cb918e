// A form of a channel: what is typed stays through refusals and through changes of others, which it takes over when told.

import { useEffect, useRef, useState } from 'react'
import { type UseFormReturn, useForm } from 'react-hook-form'
import { Problem, randomId } from '../../api/client.ts'
import { refusalText } from '../../ui/refusal.ts'
import type { Channel } from './channels.ts'
import { type ChannelValues, formField, newValues, typedOver, valuesOf } from './values.ts'

export type ChannelForm = UseFormReturn<ChannelValues>

interface Sending {
  readonly form: ChannelForm
  /** What the form began from; null: a new channel. */
  readonly base: Channel | null
  /** A refusal that belongs to no field. */
  readonly problem: Error | null
  /** Somebody changed the channel after the form began. */
  readonly isStale: boolean
  /** Goes on from the newest version: what was typed stays, the rest is as it is now. */
  readonly takeOver: () => void
  readonly submit: () => void
}

interface Attempt {
  /** What was typed: sent again as it was, it has the same key. */
  readonly typed: string
  readonly idempotencyKey: string
}

/** `send` gets the channel that the form began from. */
export function useChannelForm(
  channel: Channel | null,
  send: (values: ChannelValues, base: Channel | null, idempotencyKey: string) => Promise<unknown>,
): Sending {
  const [base, setBase] = useState(channel)
  const before = base === null ? newValues : valuesOf(base)
  const form = useForm<ChannelValues>({ defaultValues: before })
  const [problem, setProblem] = useState<Error | null>(null)
  const last = useRef<Attempt | null>(null)
  const { isDirty, isSubmitting } = form.formState
  const isNewer = channel !== null && base !== null && channel.revision !== base.revision
  function takeOver() {
    if (channel === null) return
    const typed = typedOver(form.getValues(), before)
    form.reset(valuesOf(channel))
    for (const [name, value] of Object.entries(typed))
      form.setValue(name as keyof ChannelValues, value, { shouldDirty: true })
    setBase(channel)
    setProblem(null)
  }
  useEffect(() => {
    if (isNewer && !isDirty && !isSubmitting) takeOver()
  })
  async function work(values: ChannelValues) {
    const typed = JSON.stringify([values, base?.revision])
    if (last.current?.typed !== typed) last.current = { typed, idempotencyKey: randomId() }
    setProblem(null)
    try {
      await send(values, base, last.current.idempotencyKey)
    } catch (error) {
      if (!(error instanceof Error)) throw error
      setProblem(placed(form, error, values) ? null : error)
    }
  }
  return {
    form,
    base,
    problem,
    isStale: isNewer && isDirty && !isSubmitting,
    takeOver,
    submit() {
      // Refusals of what is no single field would stay otherwise.
      form.clearErrors()
      void form.handleSubmit(work)()
    },
  }
}

/** Puts a refusal at its field; false: it belongs to none. */
export function placed(form: ChannelForm, error: Error, values: ChannelValues): boolean {
  const named = error instanceof Problem ? error.field?.replace(/^channel\./, '') : undefined
  const field = named === undefined ? null : formField(named, values)
  if (field === null) return false
  form.setError(field, { message: refusalText(error) }, { shouldFocus: true })
  return true
}
